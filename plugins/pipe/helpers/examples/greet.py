# SPDX-License-Identifier: Apache-2.0
# Greets the name in the payload.
import os, sys
sys.path.insert(0, os.path.dirname(__file__) + "/..")  # folder of the helper
import allot_pipe

def greet(task):
    if not task.payload:
        return allot_pipe.fail("no name to greet")
    print("hello,", task.payload)  # goes to the log

allot_pipe.run(greet)
