#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Greets whoever the payload names. allot_pipe.py lies beside it, or in a folder of $PYTHONPATH.
import allot_pipe


def greet(task):
    if not task.payload:
        return allot_pipe.fail("nobody to greet")
    print("hello,", task.payload)  # goes to the log


allot_pipe.run(greet)
