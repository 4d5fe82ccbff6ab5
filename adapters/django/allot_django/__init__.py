# SPDX-License-Identifier: Apache-2.0
# Django tasks with Allot: README.md. The names that an application imports.
from .current import progress, stop_reason, stop_requested
from .options import allot_options
from .outcomes import Fail, Retry, Snooze

__all__ = ["Fail", "Retry", "Snooze", "allot_options", "progress", "stop_reason", "stop_requested"]
