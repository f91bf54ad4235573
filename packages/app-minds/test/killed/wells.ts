/** Returns an observation with new surroundings at each step, so that each step forms one memory of them. */
export const observeWell = (entity_id: string, step: number) => ({
  entity_id,
  current_simulation_time: 100 + step,
  status: { position: [step, 0], current_interaction: {} },
  needs: { needs: { hunger: 90 }, max_value: 100 },
  vision: {
    visible_entities: [
      {
        entity_id: `well_${step}`,
        display_name: `Well number ${step}`,
        position: [step, 5],
        interactions: { drink: { name: 'drink', needs_filled: ['thirst'], needs_drained: [] } },
      },
    ],
  },
})

/** Returns the step in which a memory of a well was formed, or `undefined` for other memories. */
export function findWellStep(content: string): number | undefined {
  const step = /I saw Well number (\d+) /.exec(content)?.[1]
  return step === undefined ? undefined : Number(step)
}
