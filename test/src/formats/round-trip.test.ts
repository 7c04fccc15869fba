import { describe, expect, test } from 'vitest';
import { FORMATS } from 'turnkeep/formats';
import type { FormatName } from 'turnkeep/formats';
import type { Published } from './published.ts';
import { faultIn, kindsIn, publishedShapes, samplesOf } from './published-types.testkit.ts';

/** The format that reads a published type. */
const FORMAT_OF: { readonly [Name in keyof Published]: FormatName } = {
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai-responses',
  'openai-responses-output': 'openai-responses',
  anthropic: 'anthropic',
  'anthropic-output': 'anthropic',
  'anthropic-beta': 'anthropic',
  'ai-sdk': 'ai-sdk',
  'ai-sdk-ui': 'ai-sdk-ui',
};

/**
 * What has no words of ours, by type: members that are too special, and degenerate samples (a file without a place). A kind
 * that is not named here is new, and wants a part or a place in this list.
 */
const OPAQUE: { readonly [Name in keyof Published]: readonly string[] } = {
  'openai-chat': ['file', 'message'],
  'openai-responses': [
    'additional_tools',
    'code_interpreter_call',
    'compaction',
    'compaction_trigger',
    'file_search_call',
    'image_generation_call',
    'input_file',
    'input_image',
    'item_reference',
    'local_shell_call_output',
    'mcp_approval_request',
    'mcp_approval_response',
    'mcp_call',
    'mcp_list_tools',
    'message',
    'program',
    'program_output',
    'tool_search_call',
    'tool_search_output',
    'web_search_call',
  ],
  'openai-responses-output': [
    'additional_tools',
    'code_interpreter_call',
    'compaction',
    'file_search_call',
    'image_generation_call',
    'input_file',
    'input_image',
    'local_shell_call_output',
    'mcp_approval_request',
    'mcp_approval_response',
    'mcp_call',
    'mcp_list_tools',
    'program',
    'program_output',
    'tool_search_call',
    'tool_search_output',
    'web_search_call',
  ],
  anthropic: ['browser_state', 'container_upload', 'document', 'search_result', 'tool_reference'],
  'anthropic-output': ['container_upload'],
  'anthropic-beta': [
    'browser_state',
    'compaction',
    'container_upload',
    'document',
    'fallback',
    'mcp_tool_listing',
    'message',
    'search_result',
    'tool_addition',
    'tool_reference',
    'tool_removal',
  ],
  'ai-sdk': ['custom', 'file-id', 'image-file-id', 'tool-approval-request', 'tool-approval-response'],
  'ai-sdk-ui': ['step-start'],
};

describe.each([...publishedShapes()])('%s', (name, shape) => {
  const format = FORMATS[FORMAT_OF[name]];
  const samples = samplesOf(shape);

  test('every sample of every published member is given back as it was', () => {
    expect(samples.length).toBeGreaterThan(10);
    for (const sample of samples) {
      expect(faultIn(shape, sample)).toBeUndefined();
      const { messages, leftOut } = format.render(format.parse([sample]));
      expect(messages).toEqual([sample]);
      expect(leftOut).toEqual([]);
    }
  });

  test('words stand in parts once, not beside them', () => {
    for (const message of format.parse(samples)) {
      expect(patchedIn(message.metadata)).not.toContain('content');
      expect(patchedIn(message.metadata)).not.toContain('parts');
    }
  });

  test('opaque is only what is known to be', () => {
    const opaque = [...kindsIn(format.parse(samples))].filter((kind) => kind.includes('.')).sort();
    expect(opaque).toEqual(OPAQUE[name].map((kind) => `${format.name}.${kind}`));
  });
});

/** What the patch of a message lays over it. */
function patchedIn(metadata: unknown): readonly string[] {
  if (typeof metadata !== 'object' || metadata === null) return [];
  return Object.values(metadata).flatMap((kept: { readonly patch?: { readonly [key: string]: unknown } }) =>
    Object.entries(kept.patch ?? {}).flatMap(([key, value]) => (value === null ? [] : [key])),
  );
}
