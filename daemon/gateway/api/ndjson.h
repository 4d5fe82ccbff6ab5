// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gateway/access/caller.h"
#include "gateway/http/application.h"
#include "gateway/work/thread_pool.h"
#include "queue/submit/submitter.h"

namespace allot::gateway::api {

// POST /api/v1/tasks with application/x-ndjson: one task per line, all or nothing per batch, like
// `allot submit --ndjson`. Throws Refusal for invalid options in the query, and for an
// Idempotency-Key. The pool outlives the stream.
[[nodiscard]] std::unique_ptr<http::LineStream> submit_lines(work::ThreadPool& pool,
                                                             queue::Submitter submitter,
                                                             access::Caller caller,
                                                             const http::Head& head);

}  // namespace allot::gateway::api
