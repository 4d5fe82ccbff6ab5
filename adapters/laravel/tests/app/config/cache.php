<?php
// SPDX-License-Identifier: Apache-2.0
return [
    'default' => 'file',
    'stores' => ['file' => ['driver' => 'file', 'path' => getenv('APP_WORK') . '/cache']],
    'prefix' => 'shop',
];
