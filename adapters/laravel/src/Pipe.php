<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// The lines between allotd and a long-running program: docs/pipe-workers.md.
final class Pipe
{
    private $in;
    private $out;

    public function __construct()
    {
        $this->in = @fopen('php://fd/3', 'r');
        $this->out = @fopen('php://fd/4', 'w');
        if (!$this->in || !$this->out) {
            throw new \RuntimeException('allot:work is started by allotd, with descriptors 3 and 4; see docs/laravel.md');
        }
        $this->write(['kind' => 'hello', 'protocol' => 1]);
    }

    /** Waits for the next task; null: none follows. Skips a stop that crossed the verdict. */
    public function nextTask(): ?array
    {
        do {
            $line = $this->read();
        } while ($line !== null && $line['kind'] !== 'task');
        if (isset($line['payload_base64'])) {
            $line['payload'] = base64_decode($line['payload_base64']);
        }
        return $line;
    }

    public function verdict(string $id, array $verdict): void
    {
        $this->write(['kind' => 'verdict', 'id' => $id] + $verdict);
    }

    /** A verdict after which this process ends: it is given no further task. */
    public function lastVerdict(string $id, array $verdict): void
    {
        $this->verdict($id, $verdict + ['last' => true]);
    }

    public function checkpoint(string $id, string $payload): void
    {
        $this->call(['kind' => 'checkpoint', 'id' => $id, 'payload' => $payload]);
    }

    /** Submits a task in the transaction that acknowledges the task $id. */
    public function replaceWith(string $id, array $task): void
    {
        $this->call(['kind' => 'replace_with', 'id' => $id, 'tasks' => [$task]]);
    }

    private function call(array $line): void
    {
        $this->write($line);
        do {
            $answer = $this->read() ?? throw new \RuntimeException('the worker of this task has ended');
        } while ($answer['kind'] === 'stop');
        if ($answer['kind'] !== 'done') {
            throw new \RuntimeException("{$line['kind']} refused: {$answer['code']}: {$answer['reason']}");
        }
    }

    private function read(): ?array
    {
        $line = fgets($this->in);
        return $line === false ? null : json_decode($line, true, 16, JSON_THROW_ON_ERROR);
    }

    private function write(array $line): void
    {
        $flags = JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES;
        if (fwrite($this->out, json_encode($line, $flags) . "\n") === false) {
            exit(1);  // allotd no longer reads
        }
    }
}
