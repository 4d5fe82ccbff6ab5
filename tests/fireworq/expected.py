# SPDX-License-Identifier: Apache-2.0
"""Where Allot answers otherwise than Fireworq, and why: (label, field, reason). A * is any text."""

DIFFERENCES = [
    ("*", "fields.cache-control", "answers of this listener are never stored by a cache"),
    ("*", "fields.x-content-type-options", "Fireworq says nosniff of errors only, and here every answer does"),
]
