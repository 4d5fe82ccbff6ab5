# SPDX-License-Identifier: Apache-2.0
# Reads go to an account that may only read, as with a replica.
class Split:
    def db_for_read(self, model, **hints):
        return "replica"

    def db_for_write(self, model, **hints):
        return "default"
