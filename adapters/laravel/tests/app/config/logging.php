<?php
// SPDX-License-Identifier: Apache-2.0
return [
    'default' => 'single',
    'channels' => ['single' => ['driver' => 'single', 'path' => getenv('APP_WORK') . '/laravel.log']],
];
