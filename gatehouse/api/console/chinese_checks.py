"""What `gatehouse doctor` finds, in Chinese, for the administration page.

The checks write English; each sentence is recognised here by its fixed words. What is not known, such as the words of
another program, is shown as it came.
"""

from __future__ import annotations

import re

# A sentence before another that is its beginning.
_SENTENCES = {
    "{} is ignored: there is no such setting": "{} 被忽略：没有这项设置",
    "did you mean {}?": "是否应为 {}？",
    "unset it; docs/settings.md lists all settings": "请取消该变量；docs/settings.md 列出了所有设置",
    "strong enough, from {}; {} older one(s) to decrypt with": "强度足够，来自 {}；另有 {} 个可解密",
    "strong enough, from {}": "强度足够，来自 {}",
    "start `gatehouse serve` once, or set a random one of 32 characters or more": (
        "先启动一次 `gatehouse serve`，或设置 32 个字符以上的随机密钥"
    ),
    "every captcha has the same answer": "所有验证码的答案都相同",
    "unset GATEHOUSE_CAPTCHA_TEST_ANSWER before production use": "用于生产前请取消 GATEHOUSE_CAPTCHA_TEST_ANSWER",
    "all limits are off": "所有限制均已关闭",
    "unset GATEHOUSE_LIMITS before production use": "用于生产前请取消 GATEHOUSE_LIMITS",
    "all off": "均已关闭",
    "{} worker(s) on {} core(s)": "{} 个工作进程，{} 个 CPU 核",
    "more workers than cores only cost memory: lower GATEHOUSE_WORKERS": (
        "工作进程多于 CPU 核只会占用内存：请调低 GATEHOUSE_WORKERS"
    ),
    "most cores stay idle: raise GATEHOUSE_WORKERS, up to {}": "多数 CPU 核空闲：请调高 GATEHOUSE_WORKERS，最多 {}",
    "{} is trusted: anybody can claim any address": "{} 被信任：任何人都可以冒充任何地址",
    "{} is trusted: anyone with one of its addresses can claim any other": (
        "{} 被信任：拥有其中任一地址的人都可以冒充其他地址"
    ),
    "list only your own proxies in GATEHOUSE_TRUSTED_PROXIES": "GATEHOUSE_TRUSTED_PROXIES 中只应列出您自己的代理",
    "listens on loopback, the issuer is a public URL and no proxy is trusted: all clients share one address": (
        "仅监听回环地址，对外另有地址，却不信任任何代理：所有访问者共用一个地址"
    ),
    "set GATEHOUSE_TRUSTED_PROXIES to the proxy's address, such as 127.0.0.1": (
        "将 GATEHOUSE_TRUSTED_PROXIES 设为代理的地址，例如 127.0.0.1"
    ),
    "{} network(s) trusted": "信任 {} 个网络",
    "tokens name {}": "令牌中写明 {}",
    "set GATEHOUSE_ISSUER to the URL that clients see": "将 GATEHOUSE_ISSUER 设为客户端看到的 URL",
    "{} is not https": "{} 不是 https",
    "passwords travel in the clear: serve it over TLS": "密码以明文传输：请通过 TLS 提供服务",
    "every origin may call": "任何源都可以调用",
    "list the front ends in GATEHOUSE_CORS_ORIGINS": "请在 GATEHOUSE_CORS_ORIGINS 中列出前端",
    "{} origin(s)": "{} 个源",
    "others can read {}": "其他用户可以读取 {}",
    "readable by the owner only": "仅所有者可读",
    "{} free in {}": "可用 {}，位于 {}",
    "a full disk stops logins: make room": "磁盘写满会导致无法登录：请腾出空间",
    "run `gatehouse migrate`": "请运行 `gatehouse migrate`",
    "start the database, or correct GATEHOUSE_DATABASE_URL": "请启动数据库，或更正 GATEHOUSE_DATABASE_URL",
    "{}, at version {}": "{}，版本 {}",
    "see docs/many-nodes.md": "参见 docs/many-nodes.md",
    "none: nobody can log in": "没有：无人可以登录",
    "start `gatehouse serve` once, or `gatehouse user add NAME`": (
        "先启动一次 `gatehouse serve`，或运行 `gatehouse user add NAME`"
    ),
    "{} user(s)": "{} 个用户",
    "none yet": "尚无",
    "{} given up, {} waiting": "{} 项已放弃，{} 项等待中",
    "see `gatehouse audit --event delivery.given_up`": "见 `gatehouse audit --event delivery.given_up`",
    "{} waiting: state was unavailable after a change": "{} 项等待中：变更后会话存储不可用",
    "a running node delivers them": "运行中的节点会自动补发",
    "nothing waits to be delivered": "没有待补发的变更",
    "start `gatehouse serve` once": "先启动一次 `gatehouse serve`",
    "restore the master secret that encrypted them": "请恢复加密它们的主密钥",
    "{} signs with {}": "{} 使用 {} 签名",
    "{} s from the database's": "与数据库时钟相差 {} 秒",
    "run an NTP client on both machines": "请在两台机器上运行 NTP 客户端",
    "is before the last audit event": "早于最近的审计事件",
    "set it: run an NTP client": "请校准：运行 NTP 客户端",
    "not before the last audit event": "不早于最近的审计事件",
    "start the state store, or correct GATEHOUSE_STATE_URL": "请启动状态存储，或更正 GATEHOUSE_STATE_URL",
    "answers reads and writes": "读写正常",
    # Of the stores.
    "every commit is synced to the disk before it is answered: a crash loses nothing acknowledged": (
        "每次提交都先同步到磁盘再应答：崩溃不会丢失已确认的内容"
    ),
    "a Redis server replicates after it has answered: a failover can lose the last acknowledged writes": (
        "Redis 服务器先应答后复制：故障转移可能丢失最后确认的写入"
    ),
    "{}: a failover to one of them loses nothing acknowledged": "{}：转移到其中任一备库都不会丢失已确认的内容",
    "{}: a failover can lose the last acknowledged writes, a restart of the server none": (
        "{}：故障转移可能丢失最后确认的写入，服务器重启不会丢失"
    ),
    "synchronous_commit is {}, synchronous_standby_names is {}": (
        "synchronous_commit 为 {}，synchronous_standby_names 为 {}"
    ),
    "empty": "空",
    "{} is off: a crash of the server can lose acknowledged logouts; set it on": (
        "{} 为 off：服务器崩溃可能丢失已确认的退出登录；请设为 on"
    ),
    "{} is off: a crash of the server can lose acknowledged changes; set it on": (
        "{} 为 off：服务器崩溃可能丢失已确认的更改；请设为 on"
    ),
    "synchronous_commit is {}: commits do not wait for the synchronous standbys,"
    " so a failover can lose acknowledged logouts; set it on": (
        "synchronous_commit 为 {}：提交不等待同步备库，故障转移可能丢失已确认的退出登录；请设为 on"
    ),
    "max_connections is {}: each worker opens up to {} for state": (
        "max_connections 为 {}：每个工作进程最多为状态存储打开 {} 个连接"
    ),
    "max_connections is {}: each worker opens up to {}": "max_connections 为 {}：每个工作进程最多打开 {} 个连接",
    "{}: there is no role with this code, so nobody must have a second factor because of it": (
        "{}：没有使用该编码的角色，因此不会有人因它而必须启用双重验证"
    ),
    "correct GATEHOUSE_SECOND_FACTOR_ROLES; codes are compared exactly": (
        "请更正 GATEHOUSE_SECOND_FACTOR_ROLES；角色编码须完全一致"
    ),
    "the server does not let us read its configuration: check by hand that appendonly is yes"
    " and maxmemory-policy is noeviction": (
        "服务器不允许读取其配置：请手动确认 appendonly 为 yes、maxmemory-policy 为 noeviction"
    ),
    "the server is Redis {}: {} or newer is needed, or any Valkey": (
        "服务器为 Redis {}：需要 {} 或更新版本，或任意版本的 Valkey"
    ),
    "the server is a replica: sessions must be read from the primary, or a logout shows late": (
        "服务器是从库：会话必须从主库读取，否则退出登录会延迟生效"
    ),
    "the last write to the append-only file failed: look at the disk of the server": (
        "最近一次写入 AOF 文件失败：请检查服务器的磁盘"
    ),
    "maxmemory-policy is {}: when memory is full the server would evict sessions and limits; set noeviction": (
        "maxmemory-policy 为 {}：内存紧张时服务器会随意丢弃会话和限制；请设为 noeviction"
    ),
    "appendonly is no: a restart of the server loses what was not saved; set appendonly yes": (
        "appendonly 为 no：服务器重启会丢失未保存的内容；请将 appendonly 设为 yes"
    ),
    "appendfsync is no: a power cut can lose half a minute; set everysec, or always to lose nothing": (
        "appendfsync 为 no：断电可能丢失半分钟的内容；请设为 everysec，或设为 always 以避免任何丢失"
    ),
}
_KNOWN = [
    (re.compile(re.escape(english).replace(r"\{\}", "(.+?)").replace(r"\(s\)", r"(?:s|\(s\))?"), re.DOTALL), chinese)
    for english, chinese in _SENTENCES.items()
]


def check_in_chinese(sentence: str) -> str:
    """The sentence in Chinese, values in their places; a value may itself be a sentence."""
    for english, chinese in _KNOWN:
        if found := english.fullmatch(sentence):
            return chinese.format(*map(check_in_chinese, found.groups()))
    return sentence
