<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// The lines between allotd and a long-running program: docs/pipe-workers.md.
final class Pipe
{
    private $in;
    private $out;
    private bool $writing = false;

    public function __construct()
    {
        $this->in = @fopen('php://fd/3', 'r');
        $this->out = @fopen('php://fd/4', 'w');
        if (!self::isPipe($this->in) || !self::isPipe($this->out)) {
            throw new \LogicException(
                'messages of Allot are run by allotd, which starts "bin/console messenger:consume" by its plugin ' .
                'pipe; see docs/symfony.md. To look at the queue: allot status');
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

    /** A process that leaves gets no further task. */
    public function verdict(string $id, array $verdict, bool $leaves): void
    {
        $this->write(['kind' => 'verdict', 'id' => $id] + $verdict + ($leaves ? ['last' => true] : []));
    }

    /** Called by a signal handler, possibly while another line is written. */
    public function heartbeat(string $id): void
    {
        if (!$this->writing) {
            $this->write(['kind' => 'heartbeat', 'id' => $id]);
        }
    }

    public function checkpoint(string $id, string $payload): void
    {
        $this->call(['kind' => 'checkpoint', 'id' => $id] + self::payload($payload));
    }

    /** Submits a task in the transaction that acknowledges the task $id. */
    public function replaceWith(string $id, array $task): void
    {
        $rest = array_diff_key($task, ['payload' => 1]);
        $this->call(['kind' => 'replace_with', 'id' => $id, 'tasks' => [self::payload($task['payload']) + $rest]]);
    }

    // Without allotd, PHP may use these descriptors for its own files.
    private static function isPipe($stream): bool
    {
        return $stream && (fstat($stream)['mode'] & 0170000) === 0010000;
    }

    private static function payload(string $bytes): array
    {
        return preg_match('//u', $bytes) ? ['payload' => $bytes] : ['payload_base64' => base64_encode($bytes)];
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
        $line = '';
        while (!str_ends_with($line, "\n")) {
            $more = fgets($this->in);  // interrupted by signals, such as for --keepalive
            if ($more === false && feof($this->in)) {
                return null;
            }
            $line .= $more;
        }
        return json_decode($line, true, 16, JSON_THROW_ON_ERROR);
    }

    private function write(array $line): void
    {
        $flags = JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES;
        $text = json_encode($line, $flags) . "\n";
        $this->writing = true;
        while ($text !== '') {
            $written = fwrite($this->out, $text);
            if (!$written) {
                exit(1);  // allotd no longer reads
            }
            $text = substr($text, $written);
        }
        $this->writing = false;
    }
}
