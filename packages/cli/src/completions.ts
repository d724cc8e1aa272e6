import type { CommandSpec, OptionSpec } from './option-parts.ts'
import { COMMANDS, type CommandName } from './option-specs.ts'

/** Shells with completions. */
export const SHELLS = ['bash', 'zsh'] as const
/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number]

/** Options of the program itself. */
const PROGRAM_OPTIONS = ['--help', '--version']

const ALL: readonly (readonly [CommandName, CommandSpec])[] = Object.entries(COMMANDS) as [CommandName, CommandSpec][]

/** The script that completes the command in a shell, made from the specifications of its options. */
export function completionScript(shell: Shell): string {
  return shell === 'bash' ? bashScript() : zshScript()
}

function bashScript(): string {
  const names = [...ALL.map(([name]) => name), 'help']
  const values = ALL.flatMap(([name, { options }]) =>
    Object.entries(options).flatMap(([option, spec]) =>
      spec.type === 'string' ? [`    ${name}:--${option}) ${bashValue(spec)} ;;`] : [],
    ),
  )
  const words = ALL.map(([name, spec]) => {
    const options = Object.keys(spec.options).map(option => `--${option}`)
    const own = `COMPREPLY=($(compgen -W '${[...(spec.words ?? []), ...options].join(' ')}' -- "$cur"))`
    const files = spec.takesFiles ? '; [[ $cur == -* ]] || _aiagent_files -f' : ''
    return `    ${name}) ${own}${files} ;;`
  })
  return `# Completions of aiagent for bash. In ~/.bashrc: source <(aiagent completions bash)
_aiagent_files() {
  local IFS=$'\\n'
  compopt -o filenames
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
_aiagent() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${[...names, ...PROGRAM_OPTIONS].join(' ')}' -- "$cur"))
    return
  fi
  case "$command:$prev" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
    help) COMPREPLY=($(compgen -W '${ALL.map(([name]) => name).join(' ')}' -- "$cur")) ;;
  esac
}
complete -F _aiagent aiagent
`
}

/** Completes the value of an option, and ends the function. */
function bashValue({ choices, value }: OptionSpec): string {
  if (choices) return `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur")); return`
  if (value === '<file>') return '_aiagent_files -f; return'
  if (value === '<dir>') return '_aiagent_files -d; return'
  return 'return'
}

function zshScript(): string {
  const described = ALL.map(([name, { summary }]) => `    ${quoted(`${name}:${summary}`)}`)
  const cases = ALL.map(([name, { options, words, takesFiles }]) => {
    const specs = Object.entries(options).map(([option, spec]) => zshOption(option, spec))
    const rest = words ? [quoted(`1:what:(${words.join(' ')})`)] : takesFiles ? [quoted('*:file:_files')] : []
    return `    ${name})\n      _arguments ${[...specs, ...rest].join(' \\\n        ')}\n      ;;`
  })
  return `#compdef aiagent
# Completions of aiagent for zsh. In ~/.zshrc, after compinit: source <(aiagent completions zsh)
_aiagent() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    compadd -- ${PROGRAM_OPTIONS.join(' ')}
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
    help) _describe command commands ;;
  esac
}
if [[ "$funcstack[1]" == _aiagent ]]; then _aiagent "$@"; else compdef _aiagent aiagent; fi
`
}

function zshOption(name: string, { type, multiple, value, choices, help }: OptionSpec): string {
  const text = help.replace(/[[\]\\:]/g, '\\$&')
  const head = `${multiple ? '*' : ''}--${name}[${text}]`
  if (type === 'boolean') return quoted(head)
  const placeholder = (value ?? '').replace(/[<>]/g, '')
  const action = choices ? `(${choices.join(' ')})` : ({ '<file>': '_files', '<dir>': '_files -/' }[value ?? ''] ?? ' ')
  return quoted(`${head}:${placeholder}:${action}`)
}

/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
