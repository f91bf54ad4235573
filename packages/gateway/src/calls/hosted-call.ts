import { type Ask, ask, type ToolContext } from '@causeway/app-kit'
import { type InputRequest, isObject, type LogLevel, type Params } from '@causeway/protocol'
import { RejectedRequest, type RequestOwner } from '../upstream/connection.ts'

interface Question {
  readonly key: string
  readonly request: InputRequest
  resolve(reply: unknown): void
  reject(error: RejectedRequest): void
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

const askMethods: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
])

/**
 * A request to a hosted server for one client. `run` returns the server's questions, and the next `run` passes on the
 * client's answers.
 */
export class HostedCall implements RequestOwner {
  readonly id: string
  readonly clientKey: string
  readonly #abortController = new AbortController()
  readonly #outcome: Promise<Outcome>
  /** Questions that were not yet sent to the client. */
  readonly #questions: Question[] = []
  #sentQuestion: Question | undefined
  #onQuestion: (() => void) | undefined
  #ctx: ToolContext | undefined
  #canAsk: ToolContext['input']['can'] = () => false
  #stopListening = (): void => {}
  #questionCount = 0
  #isSettled = false

  constructor(
    { id, clientKey }: { readonly id: string; readonly clientKey: string },
    run: (owner: RequestOwner, signal: AbortSignal) => Promise<unknown>,
  ) {
    this.id = id
    this.clientKey = clientKey
    this.#outcome = run(this, this.#abortController.signal).then(
      (result) => this.#settle({ result }),
      (error: unknown) => this.#settle({ error }),
    )
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  async run(ctx: ToolContext): Promise<unknown> {
    this.#attach(ctx)
    const answeredQuestion = this.#sentQuestion
    this.#sentQuestion = undefined
    if (answeredQuestion !== undefined) answerQuestion(answeredQuestion, ctx.input.replies)
    for (;;) {
      const outcome = await Promise.race([this.#outcome, this.#waitForQuestion()])
      if (outcome === undefined) {
        const question = this.#questions.shift()
        if (question === undefined) continue
        this.#sentQuestion = question
        this.#ctx = undefined
        return this.#ask(question)
      }
      this.#stopListening()
      this.#ctx = undefined
      if ('error' in outcome) throw outcome.error
      return outcome.result
    }
  }

  cancel(reason: Error): void {
    const openQuestions =
      this.#sentQuestion === undefined ? this.#questions : [this.#sentQuestion, ...this.#questions]
    for (const { reject: refuse } of openQuestions) refuse(new RejectedRequest(reason.message, -32000))
    this.#stopListening()
    this.#abortController.abort(reason)
  }

  progress(progress: number, total: number | undefined, message: string | undefined): void {
    this.#ctx?.progress(progress, total, message)
  }

  log({ level, data }: Params): void {
    if (typeof level === 'string') this.#ctx?.notify(level as LogLevel, data)
  }

  ask(method: string, params: Params): Promise<unknown> {
    const request = { method, params } as InputRequest
    if (!askMethods.has(method)) throw new RejectedRequest(`not supported: ${method}`)
    if (!this.#canAsk(request)) throw new RejectedRequest(`the client does not support ${method}`)
    this.#questionCount += 1
    const key = `question_${this.#questionCount}`
    return new Promise((resolve, reject) => {
      this.#questions.push({ key, request, resolve, reject })
      this.#onQuestion?.()
    })
  }

  #ask({ key, request }: Question): Ask {
    return ask({ [key]: request }, { hosted_call: this.id })
  }

  #waitForQuestion(): Promise<undefined> {
    if (this.#questions.length > 0) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#onQuestion = () => resolve(undefined)
    })
  }

  /** The signal stays attached, so that the client can also cancel while it answers a question. */
  #attach(ctx: ToolContext): void {
    this.#stopListening()
    this.#ctx = ctx
    this.#canAsk = ctx.input.can
    const { signal } = ctx
    const onAbort = (): void => this.#abortController.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#stopListening = () => signal.removeEventListener('abort', onAbort)
  }

  #settle(outcome: Outcome): Outcome {
    this.#isSettled = true
    return outcome
  }
}

function answerQuestion(
  { key, request, resolve, reject }: Question,
  replies: ToolContext['input']['replies'],
): void {
  const reply = replies[key]
  if (isObject(reply)) resolve(reply)
  else if (request.method === 'elicitation/create') resolve({ action: 'cancel' })
  else reject(new RejectedRequest('the client did not answer', -32000))
}
