import type { CommandWords } from './words.ts'

/**
 * Writes what completes the commands and the options of vmhost in zsh, after its `compinit`. Where neither fits, zsh completes the names
 * of files.
 */
export const formatZshCompletion = (words: readonly CommandWords[]): string =>
  `#compdef vmhost
# Completion of vmhost in zsh. To use it: source <(vmhost completion zsh)
typeset -gA _vmhost_words=(
${words.map(({ path, next }) => `  '${path}' '${next.join(' ')}'`).join('\n')}
)
_vmhost() {
  local line=vmhost word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ -n \${_vmhost_words[$line $word]} ]] && line="$line $word"
  done
  compadd -- \${=_vmhost_words[$line]} || _files
}
compdef _vmhost vmhost`
