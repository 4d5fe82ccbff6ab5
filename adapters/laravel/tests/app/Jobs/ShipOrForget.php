<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

class ShipOrForget extends Ship
{
    public $deleteWhenMissingModels = true;
}
