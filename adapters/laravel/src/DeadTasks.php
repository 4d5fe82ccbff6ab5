<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Contracts\Foundation\Application;

// The application's dead tasks, read through the gateway. They are the only record of its failed
// jobs: the application has no table with a copy.
final class DeadTasks
{
    private const MARK = 'allotDeadTask';
    private const PAGE = 1000;

    /** @var string[] Tasks that this process has put back, which must not be discarded. */
    private array $putBack = [];

    public function __construct(private Application $app)
    {
    }

    public static function isMarked(?array $job): bool
    {
        return isset($job[self::MARK]);
    }

    /** Newest first in each queue; each once, even if several connections use the same Allot. */
    public function all(): array
    {
        $all = [];
        foreach ($this->connections() as $name => $settings) {
            $gateway = $this->gateway($settings);
            foreach ($this->pages($gateway, '/queues') as $queue) {
                foreach ($this->pages($gateway, "/queues/{$queue['name']}/dead") as $task) {
                    if (str_starts_with($task['type'], $settings['application'] . '.')) {
                        $all[$task['task']] ??= $this->record($name, $task, ['job' => $task['type']]);
                    }
                }
            }
        }
        return array_values($all);
    }

    /** Includes the payload for the framework's queue:retry; null: no such dead task. */
    public function find(string $id): ?object
    {
        foreach ($this->connections() as $name => $settings) {
            $gateway = $this->gateway($settings);
            try {
                $task = $gateway->list('/tasks/' . rawurlencode($id));
                $payload = $gateway->get("/tasks/{$task['task']}/payload");
            } catch (GatewayRefusal $refusal) {
                if ($refusal->status === 404 || $refusal->status === 400) {
                    continue;
                }
                throw $refusal;
            }
            if ($task['state'] !== 'dead') {
                continue;
            }
            // The framework unserializes the payload here, so this application must have signed it.
            $json = $this->app[Signature::class]->verified($payload) ?? throw new \RuntimeException(
                "task $id is not signed with this application's key (app.key); retry it with allot dead retry $id");
            $job = ['uuid' => $task['task'], self::MARK => $task['task']] + json_decode($json, true);
            return $this->record($name, $task, $job);
        }
        return null;
    }

    /**
     * Called by pushRaw() with a payload from find(). Puts the task itself back, unless its payload
     * has a deadline (retryUntil), which queue:retry moves: such a job is submitted again, and
     * queue:retry discards the dead task.
     */
    public function retry(array $job, callable $submit): string
    {
        $id = $job[self::MARK];
        unset($job[self::MARK]);
        if (!empty($job['retryUntil'])) {
            return $submit(json_encode($job, JSON_UNESCAPED_UNICODE));
        }
        if (!$this->post($id, 'retry')) {
            throw new \RuntimeException("task $id is not dead any more, or the token of the gateway is not for its queue");
        }
        $this->putBack[] = $id;
        return $id;
    }

    public function discard(string $id): bool
    {
        return in_array($id, $this->putBack, true) || $this->post($id, 'discard');
    }

    private function post(string $id, string $action): bool
    {
        foreach ($this->connections() as $settings) {
            if ($this->gateway($settings)->post('/tasks/' . rawurlencode($id) . "/$action")) {
                return true;
            }
        }
        return false;
    }

    private function record(string $connection, array $task, array $job): object
    {
        return (object) [
            'id' => $task['task'],
            'connection' => $connection,
            'queue' => $task['queue'],
            'payload' => json_encode($job, JSON_UNESCAPED_UNICODE),
            'exception' => $task['error'] ?? '',
            'failed_at' => $task['died_at'] ?? '',
        ];
    }

    private function pages(Gateway $gateway, string $path): \Generator
    {
        $cursor = null;
        do {
            $query = http_build_query(array_filter(['limit' => $path === '/queues' ? null : self::PAGE, 'cursor' => $cursor]));
            $page = $gateway->list($path . ($query === '' ? '' : "?$query"));
            yield from $page['items'];
            $cursor = $page['next'] ?? null;
        } while ($cursor !== null);
    }

    /** Connections of config/queue.php with the driver allot and a gateway. */
    private function connections(): array
    {
        return array_filter($this->app['config']['queue.connections'],
            fn ($settings) => ($settings['driver'] ?? '') === 'allot' && !empty($settings['gateway']));
    }

    private function gateway(array $settings): Gateway
    {
        return new Gateway($settings['gateway'], $settings['token'] ?? null);
    }
}
