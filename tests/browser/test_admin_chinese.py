"""The acts of the administration in Chinese on a phone: every part, and every dialog on the way."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gatehouse.transfer.xlsx import write_sheet
from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting, add_person
from tests.browser.visits import part
from tests.support.conversation import LOGIN, credentials, login
from tests.support.running import ANSWER, PASSWORD, Running

pytestmark = pytest.mark.full

CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Texts that are ours and not data, and controls with the size of the label that makes them larger.
OWN_WORDS = "h2, h3, p, label[for], legend, .acts button, .tools button"
CONTROLS = """dialog => [...dialog.querySelectorAll("button, select, input, a")]
  .filter(each => each.checkVisibility())
  .map(each => [each.textContent || each.id, (each.type === "checkbox" ? each.closest("label") : each)])
  .filter(([, each]) => each.getBoundingClientRect().height < 44)
  .map(([name]) => name)"""
OUTSIDE = """dialog => [...dialog.querySelectorAll("*")]
  .filter(each => each.checkVisibility() && !each.closest(".scroll, .diff"))
  .filter(each => each.getBoundingClientRect().right > dialog.getBoundingClientRect().right)
  .map(each => each.outerHTML)"""


def chinese_phone(visiting: Visiting, running: Running) -> Page:
    page = visiting(running, locale="zh-CN", reduced_motion="reduce", **SIZES["phone"]).page()
    page.locator("#captcha-image[src]").wait_for()
    for name, value in (("username", "admin"), ("password", PASSWORD), ("captcha", ANSWER)):
        page.locator(f"#{name}").fill(value)
    page.locator("#submit").click()
    page.get_by_role("link", name="系统管理").click()
    expect(page.get_by_role("heading", name="概览")).to_be_visible()
    return page


@pytest.fixture
def phone(visiting: Visiting, running: Running) -> Page:
    page = chinese_phone(visiting, running)
    expect(page.get_by_text("没有因登录失败而被锁定的账号。")).to_be_visible()
    return page


def opened(page: Page) -> Locator:
    """The dialog on top: in Chinese, within the screen, with controls for fingers."""
    dialog = page.locator("dialog[open]").last
    expect(dialog).to_be_visible()
    english = [
        text for text in dialog.locator(OWN_WORDS).all_inner_texts() if text.strip() and not CHINESE.search(text)
    ]
    assert english == []
    assert dialog.evaluate(CONTROLS) == []
    assert dialog.evaluate(OUTSIDE) == []
    return dialog


def told(page: Page, text: str) -> None:
    expect(page.locator(".toast.good").last).to_have_text(text)


def found(page: Page, name: str) -> Locator:
    page.get_by_role("searchbox").fill(name)
    rows = page.locator("tbody tr:not(.blank)")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(name)
    return rows


def test_how_a_user_gets_in_is_managed(phone: Page, running: Running) -> None:
    name = add_person(running)
    with running.client() as client:
        login(client, username=name)
    part(phone, "用户")
    found(phone, name).locator(".open").click()
    user = opened(phone)
    user.get_by_role("button", name="会话").click()
    opened(phone).get_by_role("button", name="全部结束").click()
    opened(phone).get_by_role("button", name="全部结束").click()
    told(phone, "已结束 1 个会话。")
    opened(phone).get_by_role("button", name="关闭").click()
    user.get_by_role("button", name="双重验证").click()
    expect(opened(phone)).to_contain_text("身份验证器：未启用")
    phone.keyboard.press("Escape")
    expect(user.get_by_role("button", name="双重验证")).to_be_focused()
    user.get_by_role("button", name="设置密码链接").click()
    expect(opened(phone).get_by_label("链接")).to_have_value(re.compile("/set-password#"))
    phone.keyboard.press("Escape")
    user.get_by_role("button", name="重置密码").click()
    phone.get_by_label("新密码").fill("a wholly different phrase")
    opened(phone).get_by_role("button", name="重置密码").click()
    told(phone, f"{name} 的密码已重置。")


def test_users_are_imported_after_a_look(phone: Page, tmp_path: Path) -> None:
    name, file = f"row-{secrets.token_hex(3)}", tmp_path / "users.xlsx"
    header = ["用户名", "昵称", "性别", "手机号码", "邮箱", "部门", "角色"]
    file.write_bytes(write_sheet("users", [header, [name, "王芳", *[""] * 5], ["admin", *[""] * 6]]))
    part(phone, "用户")
    phone.get_by_role("button", name="导入").click()
    opened(phone).get_by_role("button", name="导入").click()
    expect(opened(phone).get_by_role("alert")).to_have_text(CHINESE)
    phone.get_by_label("文件").set_input_files(file)
    expect(phone.locator(".preview")).to_contain_text("将新增 1 个用户，1 行无法导入")
    opened(phone).get_by_role("button", name="导入").click()
    expect(phone.locator("dialog[open]")).to_have_count(1)
    opened(phone).get_by_role("button", name="关闭").click()
    expect(phone.locator("#view")).to_be_focused()
    expect(found(phone, name)).to_contain_text("王芳")


def test_a_role_is_added_changed_and_deleted(phone: Page, running: Running) -> None:
    code = f"ZH_{secrets.token_hex(3).upper()}"
    part(phone, "角色")
    phone.get_by_role("button", name="新增角色").click()
    dialog = opened(phone)
    dialog.get_by_label("名称").fill(f"角色 {code}")
    dialog.get_by_label("编码").fill(code)
    dialog.get_by_role("button", name="保存").click()
    expect(phone.get_by_role("heading", name=f"角色 {code}")).to_be_visible()
    phone.get_by_label("搜索权限").fill("sys:user")
    phone.get_by_label("list", exact=True).check()
    expect(phone.get_by_label("list", exact=True)).to_be_focused()
    phone.get_by_role("button", name="查看并保存").click()
    expect(opened(phone).locator(".diff li")).to_have_text(["+ sys:user:list"])
    opened(phone).get_by_role("button", name="保存").click()
    told(phone, "角色已保存。")
    phone.get_by_role("button", name="菜单", exact=True).click()
    menus = opened(phone)
    assert [name for name in menus.locator(".menu-tree label").all_inner_texts() if not CHINESE.search(name)] == []
    page = menus.locator(".menu-tree > li > ul > li").filter(has_text="部门管理")
    page.get_by_label("查询").check()
    expect(menus.locator(".diff li").last).to_have_text("+ 系统管理 / 部门管理 / 查询")
    menus.get_by_role("button", name="保存").click()
    expect(menus).to_have_count(0)
    assert "sys:dept:list" in running.cli("role", "show", code).stdout
    phone.get_by_role("button", name="删除", exact=True).click()
    opened(phone).get_by_role("button", name="删除").click()
    told(phone, "角色已删除。")


def test_a_department_is_added_and_deleted(phone: Page) -> None:
    name = f"分部 {secrets.token_hex(3)}"
    part(phone, "部门")
    phone.get_by_role("button", name="新增部门").click()
    opened(phone).get_by_label("名称").fill(name)
    opened(phone).get_by_role("button", name="保存").click()
    row = phone.locator(f".tree li[aria-label='{name}']")
    expect(row).to_be_visible()
    row.get_by_role("button", name=f"删除: {name}").click()
    opened(phone).get_by_role("button", name="删除").click()
    told(phone, "部门已删除。")
    expect(row).to_have_count(0)


def test_a_session_is_ended(phone: Page, running: Running) -> None:
    name = add_person(running)
    with running.client() as client:
        login(client, username=name)
    part(phone, "会话")
    found(phone, name).get_by_role("button", name=f"{name}: 结束会话").click()
    opened(phone).get_by_role("button", name="结束会话").click()
    expect(phone.get_by_text("当前没有会话")).to_be_visible()
    expect(phone.locator("#view")).to_be_focused()


def test_the_audit_is_read_and_exported(phone: Page, running: Running) -> None:
    with running.client() as client:
        client.post(LOGIN, json=credentials(client, username="nobody-of-that-name", password="wrong password"))
    part(phone, "审计")
    phone.get_by_label("实时跟踪").check()  # the event is written up to a second later
    phone.get_by_role("searchbox").fill("login.failed")
    expect(phone.locator("tbody tr").first).to_contain_text("登录失败")
    expect(phone.locator("tbody").get_by_text("用户不存在").first).to_be_visible()
    with phone.expect_download() as download:
        phone.get_by_role("button", name="导出 CSV").click()
    assert "登录失败" in Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_settings_are_explained_and_searched(phone: Page) -> None:
    part(phone, "设置")
    lines = phone.locator(".findings li").all_inner_texts()
    assert [line for line in lines if not CHINESE.search(line)] == []
    expect(phone.locator(".findings")).to_contain_text("所有限制均已关闭")
    phone.get_by_label("搜索设置").fill("密码哈希")
    expect(phone.locator("table.settings tbody tr")).to_have_count(2)
    phone.get_by_role("button", name="English").click()
    expect(phone.locator(".findings")).to_contain_text("all limits are off")


def test_a_locked_name_is_let_in(strict: Running, visiting: Visiting) -> None:
    page = chinese_phone(visiting, strict)
    name = f"ghost-{secrets.token_hex(3)}"
    with strict.client() as client:
        for _ in range(3):
            client.post(LOGIN, json=credentials(client, username=name, password="wrong password"))
    page.reload()
    let_in = page.get_by_role("button", name=f"解除: {name}")
    let_in.click()
    opened(page).get_by_role("button", name="解除").click()
    expect(page.locator(".toast.good")).to_have_text(CHINESE)
    expect(let_in).to_have_count(0)
