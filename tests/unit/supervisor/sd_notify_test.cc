// SPDX-License-Identifier: Apache-2.0
#include "supervisor/sd_notify.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/temp_dir.h"
#include "unit/supervisor/listener.h"

namespace allot::supervisor {
namespace {

TEST(Notifier, SpeaksToAPath) {
  const support::TempDir dir;
  Listener listener(dir / "n");
  setenv("NOTIFY_SOCKET", (dir / "n").c_str(), 1);
  Notifier notifier;
  notifier.open();
  notifier.send("READY=1\nSTATUS=%d workers", 4);
  EXPECT_EQ(listener.receive(), "READY=1\nSTATUS=4 workers");
  EXPECT_EQ(getenv("NOTIFY_SOCKET"), nullptr) << "not for the children";
}

TEST(Notifier, SpeaksToAnAbstractName) {
  const std::string name = "@allot-test-" + std::to_string(getpid());
  Listener listener(name);
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  Notifier notifier;
  notifier.open();
  notifier.send("STOPPING=1");
  EXPECT_EQ(listener.receive(), "STOPPING=1");
}

TEST(Notifier, KnowsHalfOfTheWatchdogsLimit) {
  setenv("WATCHDOG_USEC", "3000000", 1);
  Notifier notifier;
  notifier.open();
  EXPECT_EQ(notifier.watchdog_interval(), 1'500 * kMilli);
  EXPECT_EQ(getenv("WATCHDOG_USEC"), nullptr);
}

TEST(Notifier, IsSilentWithoutASocket) {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  Notifier notifier;
  notifier.open();
  notifier.send("READY=1");
  EXPECT_EQ(notifier.watchdog_interval(), 0U);
}

}  // namespace
}  // namespace allot::supervisor
