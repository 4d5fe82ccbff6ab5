# SPDX-License-Identifier: Apache-2.0
# Runs tasks of Allot (docs/pipe-workers.md): AllotPipe::run(sub { my ($task) = @_; ... }). The sub
# returns any value, or fail('why'), retry('why', 30), snooze(30), release(); delays are seconds.
# The reason of a failure or retry may be an exception object. All texts are UTF-8 octets.
package AllotPipe;
use strict; use warnings;
use Carp ();
use Fcntl qw(F_SETFD FD_CLOEXEC);
use JSON::PP ();
use MIME::Base64 qw(encode_base64 decode_base64);

my ($json, $buffer, $no) = (JSON::PP->new->utf8, "", $Carp::CarpInternal{AllotPipe} = 1);
open(my $in, '<&=', 3) && open(my $out, '>&=', 4) or die "AllotPipe: descriptors 3 and 4: $!";

sub _verdict {
    my ($verdict, $reason, $delay) = @_;
    my @delay = defined $delay ? (delay => int($delay * 1000) . 'ms') : ();
    my @why = ref $reason ? _error($reason) : (reason => _text($reason // ''));
    return bless { verdict => $verdict, @why, @delay }, 'AllotPipe::Verdict';
}
sub success { return _verdict('success') }
sub retry   { return _verdict('retry', @_) }
sub fail    { return _verdict('fail', @_) }
sub snooze  { return _verdict('snooze', $_[1], $_[0]) }
sub release { return _verdict('release', @_) }

sub _read {
    my ($wait, $end) = @_;
    while (($end = index($buffer, "\n")) < 0) {
        vec(my $bits = '', fileno($in), 1) = 1;
        return if !$wait && !select($bits, undef, undef, 0);
        my $got = sysread($in, $buffer, 1 << 20, length $buffer);
        exit 0 unless $got;    # no further task follows
    }
    return $json->decode(substr($buffer, 0, $end + 1, ''));
}
sub _write {
    my $line = $json->encode({@_}) . "\n";
    substr($line, 0, syswrite($out, $line) // die("AllotPipe: $!"), "") while length $line;
}
sub _text { my $octets = "$_[0]"; utf8::decode($octets); return $octets }
sub _payload {
    my $text = my $octets = shift // '';
    return utf8::decode($text) ? (payload => $text) : (payload_base64 => encode_base64($octets, ''));
}
sub _call {
    my ($task, $kind, @fields) = @_;
    local $_;
    _write(kind => $kind, id => $task->{id}, @fields);
    while (($_ = _read(1))->{kind} eq 'stop') { $task->{stop_reason} = $_->{reason} }
    return $_->{kind} eq 'done' ? $_->{ids} : die "$_->{code}: $_->{reason}\n";
}
sub _task { my ($type, $payload, %options) = @_; [{type => $type, _payload($payload), %options}] }
# A task has id, queue, type, attempt, max_attempts, time_left_ms, traceparent, tracestate, payload,
# and after a stop request stop_reason: cancelled, time_limit, lease_in_doubt or worker_leaves.
sub heartbeat { _write(kind => 'heartbeat', id => $_[0]{id}) }
sub log { _write(kind => 'log', id => $_[0]{id}, text => _text($_[1]), level => $_[2] // 'info') }
sub checkpoint     { _call($_[0], 'checkpoint', _payload($_[1])) }
sub submit         { my $task = shift; return _call($task, 'submit', tasks => _task(@_))->[0] }
sub replace_with   { my $task = shift; _call($task, 'replace_with', tasks => _task(@_)) }
sub stop_requested {
    my ($task) = @_;
    $task->{stop_reason} //= (_read(0) // {})->{reason};
    return defined $task->{stop_reason};
}
sub progress {
    my ($task, $percent, $word) = @_;
    _write(kind => 'progress', id => $task->{id}, percent => int $percent, word => _text($word // ''));
}

sub _error {
    my ($error, $trace) = @_;
    return (class => ref $error, message => _text($error), trace => _text($trace // $error));
}
sub _trace { (my $what = "$_[0]") =~ s/( at \S+ line \d+(, <.*)?\.)?\n\z//; Carp::longmess($what) }
sub _ended {
    my ($handle, $task, $end, $trace) = @_;
    local $SIG{__DIE__} = $SIG{__DIE__} || sub { $trace = _trace($_[0]) };
    return ref $end eq 'AllotPipe::Verdict' ? $end : success() if eval { ($end) = $handle->($task); 1 };
    return { verdict => 'exception', _error($@, $trace) };
}
sub run {
    my ($handle) = @_;
    STDOUT->autoflush(1);
    fcntl($_, F_SETFD, FD_CLOEXEC) for $in, $out;
    _write(kind => 'hello', protocol => 1);
    while (my $task = _read(1)) {
        next if $task->{kind} ne 'task';    # a stop sent before the verdict arrived
        my $coded = $task->{payload_base64};
        defined $coded ? $task->{payload} = decode_base64($coded) : utf8::encode($task->{payload});
        _write(kind => 'verdict', id => $task->{id}, %{ _ended($handle, bless $task) });
    }
}
1;
