<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// The application's dead tasks, read through the gateway. They are the only record of its failed
// messages: the application has no table with a copy.
final class DeadTasks
{
    private const PAGE = 100;

    /** @var array<string, true> Tasks that this process has tried to handle. */
    private array $tried = [];

    public function __construct(private ?string $gateway, private ?string $token, private string $application)
    {
    }

    /** Pages of the queues, without payloads, in the form of docs/http.md. */
    public function all(): \Generator
    {
        foreach ($this->pages('/queues') as $queue) {
            foreach ($this->pages("/queues/{$queue['name']}/dead") as $task) {
                if (str_starts_with($task['type'], $this->application . '.')) {
                    yield $task;
                }
            }
        }
    }

    /** Includes the 'payload'; null: no such dead task. */
    public function find(string $id): ?array
    {
        try {
            $task = $this->gateway()->list('/tasks/' . rawurlencode($id));
            $payload = $this->gateway()->get("/tasks/{$task['task']}/payload");
        } catch (GatewayRefusal $refusal) {
            return in_array($refusal->status, [400, 404], true) ? null : throw $refusal;
        }
        return $task['state'] === 'dead' ? ['payload' => $payload] + $task : null;
    }

    public function discard(string $id): void
    {
        $this->gateway()->post('/tasks/' . rawurlencode($id) . '/discard');
    }

    public function tried(string $id): void
    {
        $this->tried[$id] = true;
    }

    public function wasTried(string $id): bool
    {
        return isset($this->tried[$id]);
    }

    private function pages(string $path): \Generator
    {
        $cursor = null;
        do {
            $query = http_build_query(array_filter(
                ['limit' => $path === '/queues' ? null : self::PAGE, 'cursor' => $cursor]));
            $page = $this->gateway()->list($path . ($query === '' ? '' : "?$query"));
            yield from $page['items'];
            $cursor = $page['next'] ?? null;
        } while ($cursor !== null);
    }

    private function gateway(): Gateway
    {
        if (!$this->gateway) {
            throw new \LogicException('allot.gateway is not set: dead tasks are read from the gateway of allotd');
        }
        return new Gateway($this->gateway, $this->token);
    }
}
