import type { CommandWords } from './words.ts'

/** Writes what completes the commands and the options of vmhost in bash 4. Where neither fits, bash completes the names of files. */
export const formatBashCompletion = (words: readonly CommandWords[]): string =>
  `# Completion of vmhost in bash. To use it: source <(vmhost completion bash)
declare -A _vmhost_words=(
${words.map(({ path, next }) => `  ['${path}']='${next.join(' ')}'`).join('\n')}
)
_vmhost() {
  local path=vmhost word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ -n \${_vmhost_words["$path $word"]} ]] && path="$path $word"
  done
  COMPREPLY=($(compgen -W "\${_vmhost_words[$path]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vmhost vmhost`
