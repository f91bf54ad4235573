/** Runs work on one name after the other; work on different names runs side by side. */
export function nameLanes(): <Result>(name: string, work: () => Promise<Result>) => Promise<Result> {
  const lanes = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const result = (lanes.get(name) ?? Promise.resolve()).then(work)
    const settled = result.catch(() => {})
    lanes.set(name, settled)
    void settled.then(() => {
      if (lanes.get(name) === settled) lanes.delete(name)
    })
    return result
  }
}
