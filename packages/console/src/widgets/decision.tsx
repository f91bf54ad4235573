import type { MindDecision } from '../domain/minds.ts'
import { LoadedView, useLoaded } from '../ui/state.tsx'
import { DecisionView } from '../views/minds/decision-view.tsx'
import '../views/pages.css'
import { openWidget, WidgetActions, type WidgetProps } from './widget.tsx'

function DecisionWidget({ app, args, data }: WidgetProps) {
  const mind = String(args.mind_id ?? data.mind_id ?? '')
  const loaded = useLoaded(
    () => app.read<MindDecision>('minds', `mind://${encodeURIComponent(mind)}/last_decision`),
    [data],
  )
  return (
    <>
      <p class="widget-head">
        <strong>
          <bdi>{mind}</bdi>
        </strong>
      </p>
      <LoadedView loaded={loaded}>{(decision) => <DecisionView decision={decision} />}</LoadedView>
      <WidgetActions app={app} question={`Why did ${mind} decide this?`} url={undefined} />
    </>
  )
}

openWidget('decision', DecisionWidget)
