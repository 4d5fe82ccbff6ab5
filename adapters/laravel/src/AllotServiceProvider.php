<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Support\ServiceProvider;

final class AllotServiceProvider extends ServiceProvider
{
    public function register()
    {
        $this->app->singleton(Signature::class, fn ($app) => new Signature(
            [$app['config']['app.key'], ...($app['config']['app.previous_keys'] ?? [])]));
        $this->app->singleton(CurrentTask::class);
        $this->app->singleton(DeadTasks::class, fn ($app) => new DeadTasks($app));
        $this->app->extend('queue.failer', fn ($inner, $app) => new FailedJobs($inner, $app[DeadTasks::class]));
    }

    public function boot()
    {
        $this->app['queue']->addConnector('allot', fn () => new AllotConnector($this->app));
        if ($this->app->runningInConsole()) {
            $this->commands([WorkCommand::class]);
        }
    }
}
