<?php
// SPDX-License-Identifier: Apache-2.0
return ['paths' => [], 'compiled' => getenv('APP_WORK') . '/views'];
