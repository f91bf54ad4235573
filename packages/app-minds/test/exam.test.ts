import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { ask, type ExamQuestion, measureCorrect, readExam, stateAll } from './exam.ts'
import { makeMind, openMinds } from './minds-kit.ts'

// The first three exams were read while the rules for answers were written, and overstate the recall of other questions.
for (const name of sample(['exam', 'second-exam', 'third-exam', 'fourth-exam'], 4))
  verifies('minds:memory:exam', `${name}, also after the questions were asked aloud`, async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    const exam = readExam(name)
    await stateAll(minds, exam)
    for (const round of [0, 1]) {
      const results = await ask(minds, exam, round)
      const measure = (kind: ExamQuestion['kind']) => measureCorrect(results, (one) => one.kind === kind)
      const recalled = measureCorrect(results, (one) => one.kind === 'paraphrase' && one.ranksFirst)
      const figures = { recalled, temporal: measure('temporal'), unknown: measure('unknown') }
      t.comment(`round ${round}: ${JSON.stringify(figures)}`)
      t.ok(recalled.of >= 15, `${recalled.of} paraphrases find their memory first`)
      t.ok(recalled.share >= 0.6, `${recalled.correct} of ${recalled.of} of them are answered`)
      t.ok(figures.temporal.share >= 0.6, `${figures.temporal.correct} temporal questions are answered`)
      t.ok(figures.unknown.share >= 0.85, `${figures.unknown.correct} unanswerable questions are declined`)
      t.same(
        results.filter(({ kind, isCorrect }) => kind === 'exact' && !isCorrect),
        [],
        'questions with the same words are answered',
      )
    }
  })
