/** Judges every request before anything else happens, and long answers again while they last. */
import type { FastifyInstance } from 'fastify'
import type { Access } from '../domain/access.ts'
import type { Admission } from './admission.ts'
import type { Recheck } from './recheck.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the token of the caller gives; undefined where none is needed. */
    access: Access | undefined
  }
}

/** Judges every request that Fastify gets, and one that showed a token again for as long as it is being answered. */
export function guard(fastify: FastifyInstance, admit: Admission, recheck: Recheck): void {
  // By callback: a promise for each hook of each request would cost more than the check.
  fastify.decorateRequest('access', undefined)
  fastify.addHook('onRequest', (request, { raw }, done) => {
    let refusal: Error | undefined
    try {
      request.access = admit(request)
      // The status may be long sent: a cut connection is what is left to say it by.
      if (request.access !== undefined)
        raw.once(
          'close',
          recheck.watch(request.headers, () => raw.destroy()),
        )
    } catch (error) {
      refusal = error as Error
    }
    done(refusal)
  })
}
