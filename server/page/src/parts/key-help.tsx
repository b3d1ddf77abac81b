import { useRef } from 'preact/hooks'

import { useKeys } from './keys.ts'

const KEYS: readonly (readonly [place: string, keys: readonly (readonly [key: string, what: string])[]])[] = [
  [
    'A list',
    [
      ['j', 'next row'],
      ['k', 'previous row'],
      ['Enter', 'open it'],
      ['/', 'search'],
    ],
  ],
  [
    'A run or conversation',
    [
      ['u', 'back to the list'],
      ['Esc', 'back to the list'],
    ],
  ],
  [
    'Labels',
    [
      ['p', 'it passes'],
      ['f', 'it fails'],
      ['n', 'write a note'],
      ['s', 'label it later'],
      ['Enter', 'next run'],
    ],
  ],
  ['Everywhere', [['?', 'this help']]],
]

/** Explains the keys, at `?` or at a click. */
export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({ '?': () => dialog.current?.showModal() })
  return (
    <>
      <button type="button" class="quiet wide-only" onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} class="key-help" aria-labelledby="key-help">
        <h2 id="key-help">Keys</h2>
        {KEYS.map(([place, keys]) => (
          <section key={place}>
            <h3>{place}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <form method="dialog">
          <button type="submit" class="primary">
            Close
          </button>
        </form>
      </dialog>
    </>
  )
}
