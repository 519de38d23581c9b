"""The API page: everything in openapi.json is on it, and every operation can be tried."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visits import Visit
from tests.support.running import ANSWER, PASSWORD, Running

pytestmark = pytest.mark.full


def operation(page: Page, name: str) -> Locator:
    return page.locator(f"#{name}")


def send(found: Locator) -> str:
    found.get_by_role("button", name="Send").click()
    status = found.locator(".status")
    status.wait_for()
    return status.inner_text()


def fill_body(found: Locator, **values: str) -> None:
    field = found.get_by_label("Body")
    content: dict[str, Any] = json.loads(field.input_value())
    field.fill(json.dumps(content | values))


def log_in_here(page: Page, variant: str) -> None:
    login = operation(page, "login_post")
    login.get_by_text(variant, exact=True).click()
    login.get_by_role("button", name="Get a captcha").click()
    login.locator(".captcha-line img[src]").wait_for()
    password = login.get_by_label("password", exact=True)
    assert password.get_attribute("type") == "password"
    password.fill(PASSWORD)
    fill_body(login, captchaCode=ANSWER)
    assert "00000" in send(login)


def test_every_operation_and_every_code_is_shown(desk: Visit, running: Running) -> None:
    page = desk.page("/docs")
    expect(page.locator("article").first).to_be_visible()
    with running.client() as client:
        paths = client.get("/openapi.json").json()["paths"]
    for methods in paths.values():
        for described in methods.values():
            shown = operation(page, described["operationId"])
            expect(shown.get_by_role("heading", name=described["summary"])).to_be_visible()
            codes = {
                code
                for status, answer in described["responses"].items()
                if status != "200"
                for code in answer["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
            }
            assert codes == set(shown.locator(".codes code").all_inner_texts()) & codes
    assert page.locator("article").count() == sum(len(methods) for methods in paths.values())


def test_who_comes_without_a_login_is_told_so_and_led_to_it(visit: Visit) -> None:
    page = visit.page("/docs")
    expect(page.locator("#kept-text")).to_contain_text("Log in, and requests")
    expect(page.locator("#me_get .send-line")).to_contain_text("not logged in")
    page.locator("#kept-login").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


@pytest.mark.parametrize(("variant", "id_name"), [("A", "captchaKey"), ("B", "captchaId")])
def test_log_in_and_use_the_token(visit: Visit, variant: str, id_name: str) -> None:
    page = visit.page("/docs")
    log_in_here(page, variant)
    body = operation(page, "login_post").get_by_label("Body").input_value()
    assert id_name in json.loads(body)
    assert PASSWORD not in body
    expect(page.locator("#kept-text")).to_contain_text("Logged in as admin")
    me = operation(page, "me_get")
    expect(me.locator(".send-line")).to_contain_text("as admin")
    assert "200 00000" in send(me)
    expect(me.locator(".answer")).to_contain_text('"username": "admin"')
    refresh = operation(page, "refresh_post")
    refresh.get_by_text(variant, exact=True).click()
    assert "200 00000" in send(refresh)
    assert "200 00000" in send(operation(page, "logout_post" if variant == "A" else "logout_delete"))
    expect(page.locator("#kept-text")).to_contain_text("Log in, and requests")
    expect(me.locator(".send-line")).to_contain_text("not logged in")
    page.reload()
    assert "401 A0230" in send(operation(page, "me_get"))


def test_the_login_made_at_the_login_page_holds_here(visit: Visit) -> None:
    page = visit.logged_in()
    page.get_by_role("link", name="API").click()
    page.wait_for_url("**/docs")
    expect(page.locator("#me_get .send-line")).to_contain_text("as admin")
    assert "200 00000" in send(operation(page, "me_get"))
    # On a phone too, what the page is comes before the list of all operations.
    top = page.get_by_role("heading", name="Gatehouse API").bounding_box()
    assert top is not None
    assert top["y"] < 200


def test_the_captcha_is_shown_as_a_picture(desk: Visit) -> None:
    page = desk.page("/docs")
    captcha = operation(page, "captcha_get")
    send(captcha)
    picture = captcha.locator("img.picture")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") >= 108
    expect(picture).to_be_visible()


def test_headers_can_be_edited(desk: Visit) -> None:
    page = desk.page("/docs")
    me = operation(page, "me_get")
    me.get_by_label("Headers").fill("Accept-Language: zh\nAuthorization: Bearer nonsense")
    assert "401 A0230" in send(me)
    expect(me.locator(".answer")).to_contain_text("登录已失效")


def test_the_list_of_operations_stays_while_the_page_scrolls(desk: Visit) -> None:
    page = desk.page("/docs")
    expect(page.locator("article").last).to_be_visible()
    page.locator("article").last.scroll_into_view_if_needed()
    expect(page.locator("#contents a").first).to_be_in_viewport()
    page.locator("#contents a").first.click()
    expect(page.locator("article").first).to_be_in_viewport()
