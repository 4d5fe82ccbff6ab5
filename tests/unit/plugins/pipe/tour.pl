# SPDX-License-Identifier: Apache-2.0
# All features of the helper, selected by the payload's first word.
use strict;
use warnings;
use lib $ENV{ALLOT_HELPERS};
use AllotPipe;

package Thrown { use overload '""' => sub { return $_[0]{why} }, fallback => 1 }

my %words = (
    fail => sub { return AllotPipe::fail("it is b\xc3\xa4d") },
    retry => sub { return AllotPipe::retry('not yet', 1.5) },
    snooze => sub { return AllotPipe::snooze(2) },
    release => sub { return AllotPipe::release('not here') },
    throw => sub { die "thrown\n" },
    print => sub { print "a stray line\n"; return },
    beat => sub { $_[0]->heartbeat; return },
    log => sub { $_[0]->log('logged', 'warn'); return },
    progress => sub { $_[0]->progress(40, "half b\xc3\xa4d"); return },
    failing => sub {
        my $error = bless { why => 'thrown' }, 'Thrown';
        return $_[1] eq 'fail' ? AllotPipe::fail($error) : AllotPipe::retry($error, 2);
    },
    checkpoint => sub { $_[0]->checkpoint($_[1]); return },
    submit => sub { $_[0]->log($_[0]->submit('x.next', $_[1], delay => '5m', prio => 2)); return },
    replace => sub { $_[0]->replace_with('x.next', $_[1], queue => 'other'); return },
    refused => sub {
        eval { $_[0]->checkpoint('x') };
        return AllotPipe::fail($@ =~ /^(\w+)/);
    },
    facts => sub {
        my ($task) = @_;
        $task->log(join ' ', map({ $task->{$_} } qw(id queue type attempt max_attempts traceparent)),
            $task->stop_requested ? 'true' : 'false');
        return;
    },
    stop => sub {
        select(undef, undef, undef, 0.005) until $_[0]->stop_requested;
        return AllotPipe::retry("stopped: $_[0]{stop_reason}");
    },
    crash => sub { exit 3 },
    return => sub { return { nothing => undef, true => 1, false => 0, number => 7 }->{$_[1]} },
);

AllotPipe::run(sub {
    my ($task) = @_;
    my $text = $task->{payload};
    if (!utf8::decode($text) || length $text > 1000) {
        $task->checkpoint($task->{payload});
        return;
    }
    my ($word, $rest) = split / /, $task->{payload}, 2;
    return ($words{$word} // sub { })->($task, $rest);
});
