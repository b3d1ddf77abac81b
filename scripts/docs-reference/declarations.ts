import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { parseAst } from 'rolldown/parseAst'

import { parseComment } from './tsdoc.ts'
import type { Comment } from './tsdoc.ts'

/** A property of an interface. */
export interface Property {
  readonly name: string
  /** The type as it is written, without the name. */
  readonly type: string
  readonly isOptional: boolean
  readonly comment: Comment
  /** The properties of an object type that is written out; else absent. */
  readonly properties?: readonly Property[]
}

/** One export of an entry, as its source declares it. */
export interface Declaration {
  readonly name: string
  /** The file that declares it. */
  readonly file: string
  readonly kind: 'function' | 'class' | 'const' | 'interface' | 'type'
  /** TypeScript without bodies and without private members. */
  readonly code: string
  readonly comment: Comment
  /** The properties of an interface that has nothing else; else absent. */
  readonly properties?: readonly Property[]
  /** Properties and methods of an interface, with their comments. */
  readonly members?: readonly { readonly name: string; readonly comment: Comment }[]
}

type Program = ReturnType<typeof parseAst>
type Statement = Program['body'][number]
type Exported = Extract<Statement, { type: 'ExportNamedDeclaration' }>

/** The named exports of an entry, in its order. Exports of other entries (`export *`) are left out. */
export function declarationsOf(entry: string): Declaration[] {
  return parse(entry).program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source === null) return []
    const file = join(dirname(entry), statement.source.value)
    return statement.specifiers.map(({ local, exported }) => declarationIn(file, nameOf(local), nameOf(exported)))
  })
}

/** A member of a union of texts, with its comment. */
export interface Literal {
  readonly literal: string
  readonly comment: Comment
}

/** The members of a union of texts that a file exports. */
export function literalsOf(file: string, type: string): Literal[] {
  const { text, program } = parse(file)
  return program.body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
    if (declaration?.type !== 'TSTypeAliasDeclaration' || declaration.id.name !== type) return []
    if (declaration.typeAnnotation.type !== 'TSUnionType') return []
    return declaration.typeAnnotation.types.flatMap(({ type: kind, start, end }) =>
      kind === 'TSLiteralType'
        ? [
            {
              literal: text.slice(start + 1, end - 1),
              comment: commentBefore(Math.max(declaration.start, text.lastIndexOf('|', start)), text),
            },
          ]
        : [],
    )
  })
}

function nameOf(name: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return name.name ?? String(name.value)
}

function parse(file: string): { readonly text: string; readonly program: Program } {
  const text = readFileSync(file, 'utf8')
  return { text, program: parseAst(text, { lang: 'ts' }) }
}

function declarationIn(file: string, local: string, name: string): Declaration {
  const { text, program } = parse(file)
  const found = program.body.filter(
    (statement): statement is Exported =>
      statement.type === 'ExportNamedDeclaration' && declaredName(statement) === local,
  )
  // Overloads come before the implementation, which is not part of the API.
  const shown = found.length > 1 ? found.filter(({ declaration }) => declaration?.type === 'TSDeclareFunction') : found
  const [first] = found
  if (first === undefined) throw new Error(`expected ${file} to declare ${local}`)
  return {
    name,
    file,
    code: shown.map((statement) => codeOf(statement, text)).join('\n'),
    comment: commentBefore(first.start, text),
    ...describe(first, text),
  }
}

function declaredName({ declaration }: Exported): string | undefined {
  if (declaration === null) return undefined
  if (declaration.type !== 'VariableDeclaration') return 'id' in declaration ? idOf(declaration.id) : undefined
  return idOf(declaration.declarations[0]?.id)
}

function idOf(id: unknown): string | undefined {
  return typeof id === 'object' && id !== null && 'name' in id ? String(id.name) : undefined
}

function describe({ declaration }: Exported, text: string): Pick<Declaration, 'kind' | 'properties' | 'members'> {
  switch (declaration?.type) {
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return { kind: 'function' }
    case 'ClassDeclaration':
      return { kind: 'class' }
    case 'VariableDeclaration':
      return { kind: 'const' }
    case 'TSInterfaceDeclaration': {
      const properties = propertiesOf(declaration.body.body, text)
      const members = declaration.body.body.flatMap((member) =>
        member.type === 'TSPropertySignature' || member.type === 'TSMethodSignature'
          ? { name: text.slice(member.key.start, member.key.end), comment: commentBefore(member.start, text) }
          : [],
      )
      return { kind: 'interface', members, ...(properties.length === declaration.body.body.length && { properties }) }
    }
    default:
      return { kind: 'type' }
  }
}

type Signature = Extract<
  NonNullable<Exported['declaration']>,
  { readonly type: 'TSInterfaceDeclaration' }
>['body']['body'][number]

function propertiesOf(members: readonly Signature[], text: string): Property[] {
  return members.flatMap((member) => {
    if (member.type !== 'TSPropertySignature') return []
    const type = member.typeAnnotation?.typeAnnotation
    return {
      name: text.slice(member.key.start, member.key.end),
      type: text.slice((member.typeAnnotation?.start ?? member.end) + 1, member.typeAnnotation?.end).trim(),
      isOptional: member.optional,
      comment: commentBefore(member.start, text),
      ...(type?.type === 'TSTypeLiteral' && { properties: propertiesOf(type.members, text) }),
    }
  })
}

/** The declaration without `export`, bodies, values and private members. */
function codeOf({ declaration }: Exported, text: string): string {
  switch (declaration?.type) {
    case 'FunctionDeclaration':
      return text.slice(declaration.start, declaration.body?.start).trim()
    case 'VariableDeclaration': {
      const [variable] = declaration.declarations
      return text.slice(declaration.start, variable?.init?.start).replace(/=\s*$/, '').trim()
    }
    case 'ClassDeclaration': {
      const members = declaration.body.body.flatMap((member) => memberCode(member, text))
      return `${text.slice(declaration.start, declaration.body.start).trim()} {\n${members.join('\n')}\n}`
    }
    default:
      return text.slice(declaration?.start, declaration?.end)
  }
}

type Member = Extract<
  NonNullable<Exported['declaration']>,
  { readonly body: { readonly type: 'ClassBody' } }
>['body']['body'][number]

function memberCode(member: Member, text: string): string[] {
  if (member.type !== 'MethodDefinition' && member.type !== 'PropertyDefinition') return []
  if (member.key.type === 'PrivateIdentifier' || member.accessibility === 'private') return []
  const end = member.type === 'MethodDefinition' ? member.value.body?.start : member.value?.start
  const code = text
    .slice(member.start, end ?? member.end)
    .replace(/=\s*$/, '')
    .trim()
  const comment = commentText(member.start, text)
  return [...(comment === undefined ? [] : [`  ${comment}`]), `  ${code}`]
}

function commentBefore(position: number, text: string): Comment {
  return parseComment(commentText(position, text) ?? '')
}

/** The TSDoc comment that ends right before a position. */
function commentText(position: number, text: string): string | undefined {
  const before = text.slice(0, position).trimEnd()
  return before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : undefined
}
