import { defineErrors } from '@causeway/protocol'

export const WorkerError = defineErrors({
  WORKER_LOST: {
    status: 503,
    retryable: true,
    about: 'the thread or process of the call ended unexpectedly',
    remedy: 'call again; report it if it repeats',
  },
})
