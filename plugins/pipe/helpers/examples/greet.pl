# SPDX-License-Identifier: Apache-2.0
# Greets whoever the payload names.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";    # where the helper lies
use AllotPipe;

AllotPipe::run(sub {
    my ($task) = @_;
    return AllotPipe::fail('no name to greet') if $task->{payload} eq '';
    print "hello, $task->{payload}\n";    # goes to the log
    return;
});
