/** Replaces `Promise.withResolvers`, which Node.js 20 lacks. */
export class Deferred<T = void> {
  resolve!: (value: T) => void
  reject!: (error: unknown) => void
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })
}
