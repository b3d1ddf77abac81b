import { useEffect } from 'preact/hooks'

/** Sets the title of the view in the browser. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · spanscore`
  }, [name])
}
