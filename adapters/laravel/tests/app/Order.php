<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

class Order extends \Illuminate\Database\Eloquent\Model
{
    public $timestamps = false;
    protected $guarded = [];
}
