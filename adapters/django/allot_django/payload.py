# SPDX-License-Identifier: Apache-2.0
# S82: payloads are signed with the application's SECRET_KEY, and a payload is decoded only if the
# signature holds or the task function accepts unsigned ones.
import json

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

_MARK = b"allot-hmac-sha256 "
_DIGITS = 64


def signed(path, args, kwargs):
    text = json.dumps({"task": path, "args": args, "kwargs": kwargs}, ensure_ascii=False, allow_nan=False)
    data = text.encode("utf-8", "surrogatepass")
    return _MARK + _hmac(data, settings.SECRET_KEY) + b"\n" + data


def verified(payload):
    """The JSON of a signed payload; None: it is not signed with a key of this application."""
    begin = len(_MARK) + _DIGITS + 1
    if not payload.startswith(_MARK) or payload[begin - 1:begin] != b"\n":
        return None
    given, data = payload[len(_MARK):begin - 1], payload[begin:]
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return data if any(constant_time_compare(_hmac(data, key), given) for key in keys) else None


def decoded(data):
    """The path (None where it is missing), arguments and keyword arguments in a JSON object."""
    call = json.loads(data.decode("utf-8", "surrogatepass") or "{}")
    if not isinstance(call, dict) or call.keys() - {"task", "args", "kwargs"}:
        raise ValueError('payload: expected {"args": [...], "kwargs": {...}}')
    args, kwargs = call.get("args", []), call.get("kwargs", {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise ValueError("payload: args must be an array, and kwargs an object")
    return call.get("task"), args, kwargs


def _hmac(data, key):
    return salted_hmac("allot_django", data, secret=key, algorithm="sha256").hexdigest().encode()
