# SPDX-License-Identifier: Apache-2.0
# Greets the name in the payload.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";    # folder of the helper
use AllotPipe;

AllotPipe::run(sub {
    my ($task) = @_;
    return AllotPipe::fail('no name to greet') if $task->{payload} eq '';
    print "hello, $task->{payload}\n";    # goes to the log
    return;
});
