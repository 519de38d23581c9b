"""What each setting means, in Chinese, for the administration page. The English stands beside the setting itself."""

from __future__ import annotations

_FROM_FILE = " in the settings file"

MEANINGS = {
    "GATEHOUSE_DATA_DIR": "存放 SQLite 数据库和自动生成的密钥的文件夹。",
    "GATEHOUSE_HOST": "监听地址。",
    "GATEHOUSE_PORT": "监听端口。",
    "GATEHOUSE_BASE_PATH": "服务所有路径的前缀，例如 /auth。",
    "GATEHOUSE_WORKERS": "工作进程数。",
    "GATEHOUSE_DATABASE_URL": "账户存储位置：留空为数据文件夹中的 SQLite，或 postgresql://user:password@host/name。",
    "GATEHOUSE_STATE_URL": (
        "会话存储位置：留空为数据文件夹中的 SQLite，或 redis://、rediss://、redis+sentinel://、redis+cluster://、"
        "postgresql://。"
    ),
    "GATEHOUSE_SECRET": "主密钥，至少 32 个随机字符；其他密钥均由它派生。",
    "GATEHOUSE_SECRET_PREVIOUS": "旧的主密钥，每行一个：仅用于解密和验证。更换 SECRET 时使用。",
    "GATEHOUSE_SECRET_FILE": (
        "主密钥文件：第一行用于加密和签名，每一行都可解密和验证。留空：数据文件夹中的 secret 文件，首次启动时创建。"
    ),
    "GATEHOUSE_ISSUER": "本服务的公开 URL，即令牌的 iss。",
    "GATEHOUSE_AUDIENCE": "访问令牌的 aud。",
    "GATEHOUSE_ADMIN_PASSWORD": "首次启动时创建的管理员的密码。留空：随机生成，仅显示一次。",
    "GATEHOUSE_ACCESS_TTL": "访问令牌的有效期。",
    "GATEHOUSE_REFRESH_TTL": "会话在这么久没有刷新后结束。",
    "GATEHOUSE_SESSION_MAX": "会话在登录这么久后结束，即使一直在刷新。",
    "GATEHOUSE_REFRESH_GRACE": "轮换后旧的刷新令牌仍被接受的时长。",
    "GATEHOUSE_KEY_MAX_AGE": "签名密钥达到此时长后更换。",
    "GATEHOUSE_SIGNING_ALGORITHM": "访问令牌的签名算法：ES256、EdDSA 或 RS256。更改后会轮换密钥。",
    "GATEHOUSE_TOKEN_TYPE": "访问令牌的 typ：at+jwt；若解码器不接受，则用 JWT。",
    "GATEHOUSE_TOKEN_PERMS": "将用户的权限写入访问令牌。",
    "GATEHOUSE_TOKEN_CLAIMS": "访问令牌的声明：standard，或 youlai（另加该系列后端读取的名称）。",
    "GATEHOUSE_SESSIONS_PER_USER": "每个用户可同时拥有的会话数；超出时结束最早的会话。",
    "GATEHOUSE_CAPTCHA_TTL": "验证码的有效期。",
    "GATEHOUSE_CAPTCHA_DIFFICULTY": "验证码的辨认难度：easy、normal 或 hard。",
    "GATEHOUSE_CAPTCHA_EXEMPT_ADDRESSES": "登录时无需验证码的网络，供看不见图片的人使用。",
    "GATEHOUSE_CAPTCHA_TEST_ANSWER": "仅供测试，仅限本机回环地址：所有验证码的答案。",
    "GATEHOUSE_LIMITS": "仅供测试，仅限本机回环地址：off 取消所有限制。",
    "GATEHOUSE_LIMIT_LOGIN_ADDRESS": "单个地址的登录失败次数；未通过验证码的单独计数。",
    "GATEHOUSE_LIMIT_LOGIN_NAME": "单个用户名被锁定前的登录失败次数；锁定时间逐渐增至 15 分钟。",
    "GATEHOUSE_LIMIT_LOGIN_TOTAL": "所有用户的登录尝试总次数。",
    "GATEHOUSE_LIMIT_CAPTCHA_ADDRESS": "单个地址获取验证码的次数，按工作进程分别计数。",
    "GATEHOUSE_LIMIT_REFRESH_ADDRESS": "单个地址的刷新失败次数。",
    "GATEHOUSE_LIMIT_PASSWORD_USER": "单个用户修改自己密码的尝试次数，无论成功与否。",
    "GATEHOUSE_SECOND_FACTOR": "双重验证：optional（设置了的用户需验证）、required（人人必须设置）或 off。",
    "GATEHOUSE_SECOND_FACTOR_ROLES": "必须使用双重验证的角色，以逗号分隔。",
    "GATEHOUSE_TRUSTED_PROXIES": "受信任代理的网络，采用其 X-Forwarded-For 或 Forwarded；代理须设置或移除二者。",
    "GATEHOUSE_CORS_ORIGINS": "部署在其他源的前端的源地址。",
    "GATEHOUSE_DEFAULT_AVATAR": "没有头像的用户的头像 URL。留空：Gatehouse 提供的中性图片。",
    "GATEHOUSE_PAGES": "提供网页：/ 登录、/account 账户、/admin 管理、/docs 接口文档。",
    "GATEHOUSE_CONSOLE_URL": "您的管理控制台的 URL，显示在账户页面上。",
    "GATEHOUSE_FORGOT_PASSWORD": "忘记密码时的求助方式，显示在登录页面上：https: 或 mailto: 地址，或一句话。",
    "GATEHOUSE_CONSOLE": "响应管理控制台的请求：用户、角色、菜单、部门、日志。",
    "GATEHOUSE_SESSION_CACHE": "SQLite 状态存储：缓存会话状态直到下次提交；off 则每次都读取文件。",
    "GATEHOUSE_HASH_THREADS": "每个工作进程同时计算的密码哈希数；0 表示各进程平分 CPU 核。",
    "GATEHOUSE_HASH_QUEUE": "每个工作进程中可排队等待密码哈希的登录数；超出的返回 503。",
    "GATEHOUSE_METRICS": "提供 /metrics 的位置：一个地址、off，或 on（使用公开端口，此时请在代理中屏蔽）。",
    "GATEHOUSE_TRACES": "接收追踪数据的 OpenTelemetry 收集器 URL（OTLP over HTTP）；需要安装 otel 扩展。",
    "GATEHOUSE_AUDIT_KEEP": "审计事件的保留时长。",
    "GATEHOUSE_LOG_LEVEL": "记录日志的最低级别。",
    "GATEHOUSE_LOG_FORMAT": "日志格式：json 或 pretty；auto 在终端上为 pretty。",
}


def source_in_chinese(source: str) -> str:
    """Flags and variables are names in every language."""
    return f"设置文件中的 {source.removesuffix(_FROM_FILE)}" if source.endswith(_FROM_FILE) else source
