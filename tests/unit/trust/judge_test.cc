// SPDX-License-Identifier: Apache-2.0
// Rule: S72.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "trust/trust.h"

namespace allot::trust {
namespace {

constexpr uid_t kRoot = 0;
constexpr uid_t kSelf = 1000;
constexpr uid_t kOther = 1001;

// The fault; its message must contain a fix as well.
std::optional<Fault> fault(const Place& place, Role role, uid_t self = kSelf) {
  const auto flaw = judge(place, role, self);
  if (!flaw) return std::nullopt;
  EXPECT_NE(flaw->text.find("; "), std::string::npos) << "no way out: " << flaw->text;
  return flaw->fault;
}

Place file(uid_t owner, mode_t mode) {
  return {"/opt/p/a.so", owner, S_IFREG | mode};
}
Place folder(uid_t owner, mode_t mode) {
  return {"/opt/p", owner, S_IFDIR | mode};
}

TEST(Judge, RootsAndOnesOwnAreTrusted) {
  for (const uid_t owner : {kRoot, kSelf}) {
    EXPECT_EQ(fault(file(owner, 0755), Role::kFile), std::nullopt);
    EXPECT_EQ(fault(folder(owner, 0755), Role::kFolder), std::nullopt);
    EXPECT_EQ(fault(folder(owner, 0755), Role::kAbove), std::nullopt);
  }
  EXPECT_EQ(fault(folder(kRoot, 0755), Role::kAbove, kRoot), std::nullopt);
}

TEST(Judge, AnothersIsNotWhateverItsMode) {
  EXPECT_EQ(fault(file(kOther, 0644), Role::kFile), Fault::kOwner);
  EXPECT_EQ(fault(folder(kOther, 0700), Role::kFolder), Fault::kOwner);
  EXPECT_EQ(fault(folder(kOther, 0755), Role::kAbove), Fault::kOwner);
  EXPECT_EQ(fault(folder(kOther, S_ISVTX | 0777), Role::kAbove), Fault::kOwner);
  EXPECT_EQ(fault({"/tmp/l", kOther, S_IFLNK | 0777}, Role::kLink), Fault::kOwner);
}

TEST(Judge, ForRootOnlyRootsIsTrusted) {
  EXPECT_EQ(fault(file(kSelf, 0755), Role::kFile, kRoot), Fault::kOwner);
  EXPECT_EQ(fault(folder(kSelf, 0755), Role::kAbove, kRoot), Fault::kOwner);
}

TEST(Judge, WritableFileIsNotTrusted) {
  EXPECT_EQ(fault(file(kSelf, 0757), Role::kFile), Fault::kWritable);
  EXPECT_EQ(fault(folder(kSelf, 0757), Role::kFolder), Fault::kWritable);
  EXPECT_EQ(fault(folder(kSelf, S_ISVTX | 0777), Role::kFolder), Fault::kWritable);
  EXPECT_EQ(fault(folder(kRoot, 0777), Role::kAbove), Fault::kWritable);
}

// /tmp has the sticky bit: other users cannot rename a user's files there.
TEST(Judge, AFolderAboveMayBeEverybodysWithTheStickyBit) {
  EXPECT_EQ(fault(folder(kRoot, S_ISVTX | 0777), Role::kAbove), std::nullopt);
}

TEST(Judge, AGroupMayWrite) {
  EXPECT_EQ(fault(file(kSelf, 0775), Role::kFile), std::nullopt);
  EXPECT_EQ(fault(folder(kSelf, 02775), Role::kFolder), std::nullopt);
  EXPECT_EQ(fault(folder(kRoot, 02775), Role::kAbove), std::nullopt);
}

TEST(Judge, AGroupMayNotWriteIntoAFolderForOneAccount) {
  EXPECT_EQ(fault(folder(kSelf, 0750), Role::kOwnFolder), std::nullopt);
  EXPECT_EQ(fault(folder(kSelf, 0770), Role::kOwnFolder), Fault::kWritable);
  EXPECT_EQ(fault(folder(kSelf, 01777), Role::kOwnFolder), Fault::kWritable);
}

TEST(Judge, APrivateFolderIsThisAccountsAlone) {
  EXPECT_EQ(fault(folder(kSelf, 0700), Role::kPrivateFolder), std::nullopt);
  for (const mode_t mode : {0710U, 0740U, 0701U, 0755U, 0777U}) {
    EXPECT_EQ(fault(folder(kSelf, mode), Role::kPrivateFolder), Fault::kOpen) << mode;
  }
  EXPECT_EQ(fault(folder(kRoot, 0700), Role::kPrivateFolder), Fault::kOwner);
  EXPECT_EQ(fault(folder(kOther, 0700), Role::kPrivateFolder), Fault::kOwner);
}

TEST(Judge, AFileIsNotAFolder) {
  EXPECT_EQ(judge(file(kSelf, 0644), Role::kFolder, kSelf)->fault, Fault::kWrongKind);
  EXPECT_EQ(judge(folder(kSelf, 0755), Role::kFile, kSelf)->fault, Fault::kWrongKind);
}

}  // namespace
}  // namespace allot::trust
