import type { Change } from 'turnkeep';

export const NAMESPACE = 'crash';

/** Sixteen writers meet on seven conversations; which one a commit goes to follows from its id, `name.writer.number`. */
export function conversationOf(id: string): string {
  const [, writer = '0', number = '0'] = id.split('.');
  return `c${(Number(writer) + Number(number)) % 7}`;
}

/** A turn whose every part names its commit. */
export function turnOf(id: string): readonly Change[] {
  const message = (role: 'user' | 'assistant'): Change => ({
    kind: 'message.append',
    message: { role, parts: [{ type: 'text', text: `${role} of ${id}` }] },
  });
  const state: Change = { kind: 'state.update', objective: id };
  return [{ kind: 'turn.record', origin: 'crash_run' }, message('user'), message('assistant'), state];
}
