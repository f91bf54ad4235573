import { command, misuse } from './command.ts'

export const toolsCommand = command({
  name: 'tools',
  about: 'print every tool with what it answers',
  forms: [''],
  flags: {},
  async run({ words, say }) {
    if (words.length > 0) throw misuse('tools', `tools takes no words: ${words.join(' ')}`)
    const { printTools } = await import('../print-tools.ts')
    say(printTools())
    return 0
  },
})
