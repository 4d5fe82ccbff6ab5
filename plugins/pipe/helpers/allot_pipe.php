<?php
// SPDX-License-Identifier: Apache-2.0
// Runs tasks of Allot (docs/pipe-workers.md): AllotPipe\run(function ($task) { ... }). It returns
// nothing or true, or fail('why'), retry('why', 30), snooze(30), release(); delays are seconds.
namespace AllotPipe;
final class Verdict {
    public string $delay;
    public function __construct(public string $verdict, public string $reason = '', $delay = null) {
        if ($delay !== null) $this->delay = (int)($delay * 1000) . 'ms';
    }
}
final class Refused extends \Exception {}  // of a call that writes; its message begins with the code
function retry($reason = '', $delay = null) { return new Verdict('retry', $reason, $delay); }
function fail($reason = '') { return new Verdict('fail', $reason); }
function snooze($delay, $reason = '') { return new Verdict('snooze', $reason, $delay); }
function release($reason = '') { return new Verdict('release', $reason); }

function read_line() {
    $line = fgets(Task::$in);
    return $line === false ? exit(0) : json_decode($line, true, 16, JSON_THROW_ON_ERROR);
}
function write_line(array $line) {
    $json = json_encode($line, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
    fwrite(Task::$out, $json . "\n") !== false || exit(1);
}
function payload_of($data) {
    return preg_match('//u', $data) ? ['payload' => $data] : ['payload_base64' => base64_encode($data)];
}
final class Task {
    public static $in, $out;
    public $id, $queue, $type, $attempt, $max_attempts, $time_left_ms, $traceparent, $tracestate, $payload;
    private $stopped = false;
    public function __construct(array $line) {
        foreach ($line as $name => $value) if (property_exists($this, $name)) $this->$name = $value;
        if (isset($line['payload_base64'])) $this->payload = base64_decode($line['payload_base64']);
    }
    private function say($kind, $fields = []) { write_line(['kind' => $kind, 'id' => $this->id] + $fields); }
    private function call($kind, array $fields) {
        $this->say($kind, $fields);
        while (($answer = read_line())['kind'] === 'stop') $this->stopped = true;
        return $answer['ids'] ?? throw new Refused($answer['code'] . ': ' . $answer['reason']);
    }
    private function tasks($type, $data, $more) {
        return ['tasks' => [['type' => $type] + payload_of($data) + $more]];
    }
    public function heartbeat() { $this->say('heartbeat'); }
    public function log($text, $level = 'info') { $this->say('log', compact('text', 'level')); }
    public function checkpoint($data) { $this->call('checkpoint', payload_of($data)); }
    public function submit($type, $payload = '', array $options = []) {
        return $this->call('submit', $this->tasks($type, $payload, $options))[0];
    }
    public function replace_with($type, $payload = '', array $options = []) {
        $this->call('replace_with', $this->tasks($type, $payload, $options));
    }
    public function stop_requested() {
        [$in, $no] = [[Task::$in], null];
        return $this->stopped = $this->stopped || (stream_select($in, $no, $no, 0) && read_line());
    }
}
function ended(callable $handle, Task $task) {
    try {
        $end = $handle($task) ?? true;
    } catch (\Throwable $error) {
        return ['verdict' => 'exception', 'class' => get_class($error),
                'message' => $error->getMessage(), 'trace' => "Fatal error: Uncaught $error"];
    }
    if ($end === true) return ['verdict' => 'success'];
    if ($end instanceof Verdict) return get_object_vars($end);
    $what = $end === false ? 'false' : 'a value of the type ' . get_debug_type($end) . ', no verdict';
    return ['verdict' => 'retry', 'reason' => "the handler returned $what"];
}

function run(callable $handle) {
    [Task::$in, Task::$out] = [fopen('php://fd/3', 'r'), fopen('php://fd/4', 'w')];
    write_line(['kind' => 'hello', 'protocol' => 1]);
    while ($line = read_line()) {
        if ($line['kind'] !== 'task') continue;  // a stop that crossed a verdict
        write_line(['kind' => 'verdict', 'id' => $line['id']] + ended($handle, new Task($line)));
    }
}
