<?php
// SPDX-License-Identifier: Apache-2.0
// Dispatches ALLOT_JOBS messages (10,000), each in a transaction with a row of `orders`, every
// seventh rolled back, while workers, PHP processes and the database server are killed. Exactly the
// messages of the committed rows are handled. Then dispatches ALLOT_JOBS more, while the code is
// deployed by messenger:stop-workers and by allot reload --wait.
namespace Tests;

use App\Message\Counts;

require __DIR__ . '/support.php';

/** @return int[] children of a process whose command line contains the text */
function children(int $parent, string $text): array
{
    $pids = [];
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        $stat = @file_get_contents($file);
        if (!$stat || !preg_match('/^(\d+) \(.*\) \S (\d+) /s', $stat, $match) || (int) $match[2] !== $parent) {
            continue;
        }
        if (str_contains((string) @file_get_contents("/proc/{$match[1]}/cmdline"), $text)) {
            $pids[] = (int) $match[1];
        }
    }
    return $pids;
}

/** Kills one process of the kind; false: none exists at the moment. */
function kill_one(string $kind): bool
{
    $allotd = (int) getenv('APP_ALLOTD');
    $workers = children($allotd, 'allot-worker');
    $of_kind = match ($kind) {
        'worker' => $workers,
        'php' => array_merge(...array_map(fn ($pid) => children($pid, 'messenger:consume'), $workers ?: [0])),
        'server' => [(int) @file_get_contents(getenv('APP_WORK') . '/db/pid')],
    };
    return $of_kind && ($pid = $of_kind[array_rand($of_kind)]) > 1 && posix_kill($pid, SIGKILL);
}


function handled(string $prefix): int
{
    return (int) db()->fetchOne("SELECT COUNT(DISTINCT name) FROM seen WHERE what = 'ran' AND name LIKE ?", ["$prefix%"]);
}

function committed(): int
{
    return (int) db()->fetchOne("SELECT COUNT(*) FROM orders WHERE name LIKE 'job %'");
}

/**
 * Number of messages that started after the end of the command, in a process older than its begin,
 * when the new code was installed already. Each process may have had one current message.
 */
function with_old_code(float $began, float $ended): int
{
    return (int) db()->fetchOne('SELECT COUNT(*) - COUNT(DISTINCT detail) FROM seen
        WHERE UNIX_TIMESTAMP(at) > ? AND detail < ? AND name LIKE "deploy %"', [$ended, $began]);
}

run([
    'Exactly the messages that were committed are handled, whatever is killed' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        $killed = ['worker' => 0, 'php' => 0, 'server' => 0];
        for ($i = 1; $i <= $jobs; $i++) {
            try {
                db()->beginTransaction();
                db()->insert('orders', ['name' => "job $i"]);
                send('many', new Counts("job $i"));
                $i % 7 === 0 ? db()->rollBack() : db()->commit();
            } catch (\Exception $error) {  // `orders` shows whether it was committed
                eventually(function () {
                    try {
                        db()->close();
                        return db()->fetchOne('SELECT 1');
                    } catch (\Exception $away) {
                        return false;
                    }
                }, 'the server is back');
            }
            if ($i % 97 === 0) {
                $kind = $i % 970 === 0 ? 'server' : ($i % 2 ? 'worker' : 'php');
                $killed[$kind] += kill_one($kind) ? 1 : 0;
            }
        }
        eventually(fn () => handled('job ') >= committed(), 'all committed messages were handled', 600);
        $extra = db()->fetchOne(
            "SELECT COUNT(DISTINCT s.name) FROM seen s LEFT JOIN orders o ON o.name = s.name WHERE o.name IS NULL");
        equal(0, $extra, 'messages that were handled and not committed');
        eventually(fn () => service('test.many')->getMessageCount() === 0, 'the queue is empty', 600);
        equal(0, db()->fetchOne("SELECT COUNT(*) FROM seen WHERE what = 'failed'"), 'messages that failed');
        printf("%d messages, %d committed, %d runs; killed: %s\n", $jobs, committed(),
               db()->fetchOne("SELECT COUNT(*) FROM seen WHERE what = 'ran'"), json_encode($killed));
        foreach ($killed as $kind => $times) {
            equal(true, $times > 0, "kills of $kind");
        }
    },
    'A deployment under load loses no message, charges none, and starts none with old code afterwards' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        [$sent, $deployed] = [0, []];
        $send = function (int $until) use (&$sent) {
            db()->transactional(function () use (&$sent, $until) {
                for (; $sent < $until; $sent++) {
                    dispatch(new Counts("deploy $sent"));  // tried twice
                }
            });
        };
        foreach (['restart', 'reload', 'restart', 'reload', 'restart'] as $step => $by) {
            $send(intdiv($jobs * ($step + 1), 5));
            eventually(fn () => handled('deploy ') >= $sent - intdiv($jobs, 6), 'some of them', 600);
            $began = microtime(true);
            $by === 'restart' ? console('messenger:stop-workers') : allot('reload', '--wait');
            $deployed[] = [$began, microtime(true)];
        }
        eventually(fn () => handled('deploy ') === $sent, 'all were handled', 600);
        eventually(fn () => service('test.async')->getMessageCount() === 0, 'the queue is empty', 600);
        equal($jobs, db()->fetchOne("SELECT COUNT(*) FROM seen WHERE what = 'ran' AND name LIKE 'deploy %'"), 'runs');
        equal(0, db()->fetchOne("SELECT COUNT(*) FROM seen WHERE name LIKE 'deploy %' AND attempt > 1"), 'charged');
        foreach ($deployed as $step => $at) {
            equal(0, with_old_code(...$at), "messages with old code after deployment $step");
        }
    },
]);
