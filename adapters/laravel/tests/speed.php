<?php
// SPDX-License-Identifier: Apache-2.0
// Measures ALLOT_JOBS empty jobs (10,000) with Allot, with the framework's database driver on the
// same server, and called without a queue, with ALLOT_WORKERS processes each; the memory of the
// processes after a tenth of the jobs and after all; the delay between dispatch and start. Prints
// the figures; required limits are cases.
namespace Tests;

use App\Jobs\Note;
use App\Jobs\Nothing;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

require __DIR__ . '/support.php';

const TICKS = 100;

/** Processor seconds of a process and its descendants, including reaped ones. */
function cpu_of(int $pid): float
{
    $below = [];
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        if (preg_match('/^(\d+) \(.*\) (.*)$/s', (string) @file_get_contents($file), $match)) {
            $fields = explode(' ', $match[2]);
            $below[(int) $fields[1]][] = (int) $match[1];
            $ticks[(int) $match[1]] = $fields[11] + $fields[12] + $fields[13] + $fields[14];
        }
    }
    $sum = 0;
    for ($pids = [$pid]; $pids; $pids = array_merge(...array_map(fn ($pid) => $below[$pid] ?? [], $pids))) {
        $sum += array_sum(array_map(fn ($pid) => $ticks[$pid] ?? 0, $pids));
    }
    return $sum / TICKS;
}

/** Largest resident memory of the processes that run jobs, in KiB. */
function memory(): int
{
    $most = 0;
    foreach (glob('/proc/[0-9]*/cmdline') as $file) {
        $words = (string) @file_get_contents($file);
        $status = (string) @file_get_contents(dirname($file) . '/status');
        $ours = str_contains($words, 'allot:work') &&
            str_contains((string) @file_get_contents(dirname($file) . '/environ'), 'APP_WORK=' . getenv('APP_WORK') . "\0");
        if ($ours && preg_match('/VmRSS:\s+(\d+)/', $status, $match)) {
            $most = max($most, (int) $match[1]);
        }
    }
    return $most;
}

function deadlocks(): int
{
    return (int) DB::selectOne("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")->Value;
}

/** Runs $work, which processes the jobs; prints and returns jobs per second. */
function measured(string $what, int $jobs, callable $work, callable $cpu): float
{
    [$began, $cpu_before, $deadlocks] = [microtime(true), $cpu(), deadlocks()];
    $work();
    $took = microtime(true) - $began;
    printf("%-28s %8.0f jobs/s  %6.2f ms of processor per job  %d deadlocks\n", $what, $jobs / $took,
           1000 * ($cpu() - $cpu_before) / $jobs, deadlocks() - $deadlocks);
    return $jobs / $took;
}

/** Starts this number of processes; the returned function waits for their end. */
function started(int $workers, array $command): callable
{
    $null = ['file', '/dev/null', 'r+'];
    $all = array_map(fn () => proc_open($command, [$null, $null, $null], $pipes), range(1, $workers));
    return fn () => array_map(fn ($process) => proc_close($process), $all);
}

/** Starts this number of processes; once ready, the returned function runs them to their end. */
function ready(int $workers, array $command): callable
{
    $all = [];
    for ($i = 0; $i < $workers; $i++) {
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $all[] = (object) ['process' => $process, 'input' => $pipes[0], 'output' => $pipes[1]];
    }
    array_map(fn ($one) => fgets($one->output), $all);
    return function () use ($all) {
        array_map(fn ($one) => fclose($one->input), $all);
        array_map(fn ($one) => proc_close($one->process), $all);
    };
}

function push_all(string $connection, int $jobs): void
{
    for ($sent = 0; $sent < $jobs; $sent += 500) {
        Queue::connection($connection)->bulk(array_fill(0, min(500, $jobs - $sent), new Nothing()));
    }
}

run([
    'Memory after all jobs is at most 5 % above that after a tenth' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        push_all('allot', intdiv($jobs, 10));
        eventually(fn () => Queue::size() === 0, 'the first tenth', 600);
        $before = memory();
        push_all('allot', $jobs - intdiv($jobs, 10));
        eventually(fn () => Queue::size() === 0, 'all', 600);
        printf("memory: %d KiB, then %d KiB\n", $before, memory());
        equal(true, $before > 0 && memory() <= 1.05 * $before, 'growth');
    },
    'Allot is three times as fast as the database driver, or near the ceiling, without deadlocks' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        $workers = (int) (getenv('ALLOT_WORKERS') ?: 2);
        $php = [getenv('APP_PHP'), getenv('APP_ARTISAN')];
        echo "$workers workers, $jobs jobs\n";
        allot('queue', 'pause', 'default');
        push_all('allot', $jobs);
        $before = deadlocks();
        $allot = measured('Allot', $jobs, function () {
            allot('queue', 'resume', 'default');
            eventually(fn () => Queue::size() === 0, 'all', 600);
        }, fn () => cpu_of((int) getenv('APP_ALLOTD')));
        $deadlocks = deadlocks() - $before;
        push_all('database', $jobs);
        $all = fn () => cpu_of(getmypid()) + cpu_of((int) getenv('APP_ALLOTD'));
        $database = measured('the database driver', $jobs, fn () => started(
            $workers, [...$php, 'queue:work', 'database', '--stop-when-empty', '--sleep=0'])(), $all);
        $share = max(1, intdiv($jobs, $workers));
        $calls = ready($workers, [getenv('APP_PHP'), __DIR__ . '/ceiling.php', (string) $share]);
        $ceiling = measured('without a queue', $share * $workers, $calls, $all);
        printf("Allot: %.1f times the database driver, %.0f %% of the ceiling\n", $allot / $database, 100 * $allot / $ceiling);
        equal(0, $deadlocks, 'deadlocks');
        equal(true, $allot >= 3 * $database || $allot >= 0.8 * $ceiling, 'three times as fast, or near the ceiling');
    },
    'A job starts soon after its dispatch' => function () {
        $waited = [];
        for ($i = 0; $i < 200; $i++) {
            $at = microtime(true);
            Queue::push(new Note("start $i"));
            eventually(fn () => seen("start $i"), 'it ran');
            $row = DB::selectOne('SELECT UNIX_TIMESTAMP(at) AS at FROM seen WHERE job = ?', ["start $i"]);
            $waited[] = 1000 * ($row->at - $at);
        }
        sort($waited);
        printf("start after dispatch: p50 %.1f ms, p99 %.1f ms\n", $waited[100], $waited[198]);
    },
]);
