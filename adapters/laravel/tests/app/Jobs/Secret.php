<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldBeEncrypted;

class Secret extends Note implements ShouldBeEncrypted
{
}
