import type { CommandWords } from './words.ts'

/** Writes what completes the commands and the options of vmhost in fish. Where neither fits, fish completes the names of files. */
export const formatFishCompletion = (words: readonly CommandWords[]): string =>
  `# Completion of vmhost in fish. To use it: vmhost completion fish | source
function __vmhost_words
  switch "$argv"
${words.map(({ path, next }) => `    case '${path}'\n      string split -- ' ' '${next.join(' ')}'`).join('\n')}
    case '*'
      return 1
  end
end
function __vmhost_complete
  set -l line vmhost
  for word in (commandline --tokenize --current-process --cut-at-cursor)[2..]
    __vmhost_words "$line $word" >/dev/null; and set line "$line $word"
  end
  __vmhost_words $line
end
complete --command vmhost --arguments '(__vmhost_complete)'`
