"""A Django service in one file that trusts the tokens of Gatehouse: python app.py runserver --noreload 8107"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import JsonResponse
from django.urls import path
from guard import require_perms

if TYPE_CHECKING:
    from django.http import HttpRequest

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["guard.GatehouseMiddleware"],
    GATEHOUSE_URL=os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8000"),
    GATEHOUSE_TOKEN_TYPE=os.environ.get("GATEHOUSE_TOKEN_TYPE", "at+jwt"),
    GATEHOUSE_SERVICE_KEY=os.environ["GATEHOUSE_SERVICE_KEY"],
)


def hello(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"userId": request.principal.user_id})  # type: ignore[attr-defined]


@require_perms("sys:user:add")
def users(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"addedBy": request.principal.username})  # type: ignore[attr-defined]


urlpatterns = [path("hello", hello), path("users", users)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
