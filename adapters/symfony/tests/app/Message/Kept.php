<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Message;

final class Kept extends Message
{
}
