<?php
// SPDX-License-Identifier: Apache-2.0
// Runs tasks of Allot (docs/pipe-workers.md): AllotPipe\run(function ($task) { ... }). The function
// returns nothing or true, or fail('why'), retry('why', 30), snooze(30), release(); delays are
// seconds. The reason of a failure or retry may be a Throwable.
namespace AllotPipe;
final class Verdict {
    public array $fields;
    public function __construct(string $verdict, $reason = '', $delay = null) {
        $why = $reason instanceof \Throwable ? error_of($reason) : ['reason' => (string)$reason];
        $this->fields = ['verdict' => $verdict] + $why;
        if ($delay !== null) $this->fields['delay'] = (int)($delay * 1000) . 'ms';
    }
}
function error_of(\Throwable $error) {
    return ['class' => get_class($error), 'message' => $error->getMessage(),
            'trace' => "Fatal error: Uncaught $error"];
}
final class Refused extends \Exception {}  // error of a writing call: "CODE: cause"
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
    public $stop_reason;  // cancelled, time_limit, lease_in_doubt, worker_leaves; or unset
    public function __construct(array $line) {
        foreach ($line as $name => $value) if (property_exists($this, $name)) $this->$name = $value;
        if (isset($line['payload_base64'])) $this->payload = base64_decode($line['payload_base64']);
    }
    private function say($kind, $fields = []) { write_line(['kind' => $kind, 'id' => $this->id] + $fields); }
    private function call($kind, array $fields) {
        $this->say($kind, $fields);
        while (($answer = read_line())['kind'] === 'stop') $this->stop_reason = $answer['reason'];
        return $answer['ids'] ?? throw new Refused($answer['code'] . ': ' . $answer['reason']);
    }
    private function tasks($type, $data, $more) {
        return ['tasks' => [['type' => $type] + payload_of($data) + $more]];
    }
    public function heartbeat() { $this->say('heartbeat'); }
    public function progress($percent, $word = '') {
        $this->say('progress', ['percent' => (int)$percent, 'word' => $word]);
    }
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
        if (!$this->stop_reason && stream_select($in, $no, $no, 0)) {
            $this->stop_reason = read_line()['reason'];
        }
        return $this->stop_reason !== null;
    }
}
function ended(callable $handle, Task $task) {
    try {
        $end = $handle($task) ?? true;
    } catch (\Throwable $error) {
        return ['verdict' => 'exception'] + error_of($error);
    }
    if ($end === true) return ['verdict' => 'success'];
    if ($end instanceof Verdict) return $end->fields;
    $what = $end === false ? 'false' : 'a value of the type ' . get_debug_type($end) . ', no verdict';
    return ['verdict' => 'retry', 'reason' => "the handler returned $what"];
}

function run(callable $handle) {
    [Task::$in, Task::$out] = [fopen('php://fd/3', 'r'), fopen('php://fd/4', 'w')];
    write_line(['kind' => 'hello', 'protocol' => 1]);
    while ($line = read_line()) {
        if ($line['kind'] !== 'task') continue;  // a stop sent before the verdict arrived
        write_line(['kind' => 'verdict', 'id' => $line['id']] + ended($handle, new Task($line)));
    }
}
