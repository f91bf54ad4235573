import { parsed } from './parsed.ts'
import { ifTooDeep, refuseDeep, replaceDeep } from './too-deep.ts'

/** The two ways on from one place between the client and the server. */
export interface Ends {
  /** One line of the client, or one made in its place. */
  toServer(line: Buffer): void
  /** One message for the client, or one made in the server's place. */
  toClient(json: Buffer): void
}

/** A feature between the client and the relay: given its neighbours, it says what becomes of a line of each. */
export type Stage = (neighbours: Ends) => Ends

/**
 * Puts stages in a row, the first nearest to the client. Of the result the client feeds one end, the relay the other. A
 * message that is nested too deeply for a stage is answered there.
 */
export function chain(stages: readonly Stage[], { toServer, toClient }: Ends): Ends {
  const built: Ends[] = []
  let towardsClient = toClient
  for (const [at, stage] of stages.entries()) {
    const onwards = (line: Buffer): void => (built[at + 1]?.toServer ?? toServer)(line)
    const ends = withoutDeep(stage({ toServer: onwards, toClient: towardsClient }), towardsClient)
    built.push(ends)
    towardsClient = ends.toClient
  }
  return { toServer: built[0]?.toServer ?? toServer, toClient: towardsClient }
}

/** A stage's ends; what it cannot write anew is answered in its place, by the way on to the client. */
const withoutDeep = ({ toServer, toClient }: Ends, onwards: Ends['toClient']): Ends => ({
  toServer: (line) =>
    ifTooDeep(
      () => toServer(line),
      () => refuseDeep(parsed(line), onwards),
    ),
  toClient: (json) =>
    ifTooDeep(
      () => toClient(json),
      () => replaceDeep(parsed(json), onwards),
    ),
})
