"""Sentences of a document that read as instructions to a language model, and characters that hide them.

A document may say anything; none of it is an order. Loading warns of such sentences, prompts leave them out.
"""

# ruff: noqa: E501

from __future__ import annotations

import base64
import binascii
import re
import unicodedata

from rag_app.types import Span

_MODEL = (
    r"(?:ai|a\.i\.|llm|chat ?gpt|gpt|claude|gemini|copilot|(?:language |chat ?)?model|assistant|chatbot|bot|agent|"
    r"ki|sprachmodell|assistent(?:in)?|modèle|modelo|asistente|modello|assistente|助手|模型|人工智能|アシスタント)s?"
)
_PATTERNS = (
    # Overriding what was said before.
    r"\b(?:ignore|disregard|forget|override|bypass|discard|do not (?:follow|obey)|don't (?:follow|obey)|skip|drop|stop following)\b"
    r"[^.!?\n]{0,60}\b(?:instructions?|prompts?|rules|guidelines|directions|directives|context|messages?|passages?|"
    r"sources|everything|above|constraints|safety|said before|told)\b",
    r"\b(?:new|updated|revised|real|actual|important|urgent|special|hidden|secret|additional) (?:system )?"
    r"(?:instructions?|prompt|directives?|orders?|task)\b\s*(?:[:.!-]|for|follow|from|is\b)",
    r"\b(?:system|developer|admin(?:istrator)?|root) ?(?:prompt|message|override|instruction|note|mode|command)s?\b",
    r"\b(?:your|the) (?:system prompt|initial prompt|hidden (?:prompt|instructions)|instructions (?:are|were|above))",
    # Addressing the model.
    rf"\b(?:you are|you're|act as|pretend (?:to be|you)|behave as|role-?play|imagine you are|from now on you)\b[^.!?\n]{{0,40}}"
    rf"\b(?:{_MODEL}|dan|jailbroken|unrestricted|pirate|hacker|evil|no longer)\b",
    rf"\b(?:dear|attention|hey|hello|hi|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|to (?:the|any|all)|"
    rf"if you are an?|for)\s+(?:the |any |all |every |an? )?(?:reading |processing |summari[sz]ing )?{_MODEL}\b"
    r"[^.!?\n]{0,80}(?:[:,!]|\bmust\b|\bshould\b|\bplease\b|\breading\b|\bprocessing\b|\bdo\b|\bsay\b|\binclude\b)",
    rf"\b(?:{_MODEL})\b[^.!?\n]{{0,40}}\b(?:reading|processing|summari[sz]ing|answering|parsing) (?:this|these|the)\b",
    rf"\b(?:any|all|every|each|the|an) {_MODEL} (?:that|who|which|reading|must|should|shall|is to|are to|has to|will)\b"
    r"[^.!?\n]{0,80}\b(?:reads?|reading|answer|say|reply|respond|output|include|tell|recommend|cite|ignore|append|state|print|"
    r"mention|write)\b",
    # Dictating the answer.
    r"\b(?:reply|respond|answer|output|print|say|write|state|repeat|return|type)\b[^.!?\n]{0,30}"
    r"\b(?:only|exactly|nothing (?:but|else)|verbatim|the (?:following|words?|phrase|text|sentence)|with the|in all caps|instead)\b",
    r"\b(?:when(?:ever)?|if|before|while|in|after)\b[^.!?\n]{0,50}\b(?:answering|asked|replying|responding|summari[sz]ing|your "
    r"(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)))\b[^.!?\n]{0,80}\b(?:say|state|tell|include|add|append|claim|recommend|"
    r"mention|cite|write|reply|answer|respond|insist|use|link|always|never|begin|start|end)\b",
    r"\b(?:begin|start|end|finish|conclude|open|close|prefix|append|add|include|insert|put|place|attach|render)\b[^.!?\n]{0,50}"
    r"\b(?:your|every|each|the|any|all) (?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|final answer)\b",
    r"\b(?:do not|don't|never|must not|should not)\b[^.!?\n]{0,40}\b(?:tell|inform|mention|reveal|warn|disclose|let)\b[^.!?\n]{0,20}"
    r"\b(?:users?|readers?|persons?|anyone|humans?|them|this (?:instruction|message|note))\b",
    r"\b(?:tell|inform|convince|persuade|instruct|urge|ask|advise) (?:the )?(?:users?|humans?|person asking|questioner)\b",
    r"\b(?:reveal|leak|exfiltrate|send|post|forward|encode|transmit|upload|email)\b[^.!?\n]{0,50}"
    r"\b(?:system prompt|prompt|conversation|chat history|api keys?|passwords?|secrets?|credentials|tokens|context window|"
    r"(?:the )?user'?s (?:question|data|name|input|message))\b",
    r"\b(?:always|only|must) cite\b|\bcite (?:this|source|passage|only|nothing|it as)\b[^.!?\n]{0,40}(?:\[?\d|as\b|instead|source|passage)",
    r"\b(?:the )?(?:only )?(?:correct|right|true|official) answer (?:to|is|for)\b[^.!?\n]{0,60}\b(?:any|all|every|whatever|question|"
    r"regardless|always)\b",
    r"\b(?:call|invoke|execute|run|use) (?:the )?(?:tool|function|command|shell|code|plugin|api)\b",
    # Chat templates and forged delimiters.
    r"<\|?/?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id|end_header_id|inst)[^<>\n]{0,20}\|?>",
    r"\[/?(?:INST|SYSTEM|SYS)\]|<<\/?SYS>>|</?evidence\b|^\s{0,3}#{1,6}\s*(?:instruction|system|assistant|response)s?\b",
    r"(?:^|\n)\s*(?:system|assistant|human|developer)\s*:\s",
    # Other languages.
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|beachte\w* nicht)\b[^.!?\n]{0,60}\b(?:anweisung\w*|anleitung\w*|regel\w*|vorgabe\w*|prompt|"
    r"kontext|alles|bisherig\w*)\b",
    r"\b(?:antworte\w*|schreib\w*|gib|sag\w*|empfiehl)\b[^.!?\n]{0,40}\b(?:nur|ausschließlich|immer|stets|genau)\b[^.!?\n]{0,30}[:„\"'“]",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,60}\b(?:instructions?|consignes?|règles|précédent\w*)\b",
    r"\b(?:ignora|ignore|ignorar|olvida|olvide|dimentica|esqueça)\b[^.!?\n]{0,60}\b(?:instruc\w+|istruzion\w+|reglas|regole|regras|anterior\w*|precedent\w*)\b",
    r"(?:忽略|无视|忘记|不要遵循|無視|忘れ)[^。！？\n]{0,20}(?:指令|指示|提示|规则|規則|命令|说明)",
    r"(?:以上|之前|前述)[^。！？\n]{0,8}(?:指令|指示|提示)[^。！？\n]{0,8}(?:忽略|无视|無視|作废)",
    r"(?:请|必须|务必)?(?:只|仅)(?:回答|回复|输出|说)",
    r"(?:игнорируй\w*|забудь\w*)[^.!?\n]{0,60}(?:инструкц\w+|указани\w+|правил\w*)",
)
_INSTRUCTION = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0000-\U000e007f\ufe00-\ufe0f]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_BASE64 = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
_LEET = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"})
_CYRILLIC = str.maketrans("аеорсухіјѕԁ", "aeopcyxijsd")
_SPACED = re.compile(r"\b(?:\w[ .\-_*]){4,}\w\b")


def is_instruction(text: str) -> bool:
    """Whether a sentence reads as an instruction to a model, also behind hidden characters, look-alikes or base64."""
    if _TAGS.search(text):
        return True
    plain = unicodedata.normalize("NFKC", strip_hidden(text)).replace("’", "'")
    if _INSTRUCTION.search(plain):
        return True
    squeezed = _SPACED.sub(lambda m: re.sub(r"[ .\-_*]", "", m.group()), plain)
    variants = {squeezed, plain.translate(_CYRILLIC), plain.translate(_LEET)} - {plain}
    return any(_INSTRUCTION.search(variant) for variant in variants) or _decodes_to_instruction(plain)


def instruction_spans(text: str) -> list[Span]:
    """Spans of the sentences of `text` that read as instructions to a model, in order; adjacent ones are joined.

    After a sentence that overrides ("Ignore all instructions"), the rest of its line is part of it: the order follows.
    """
    from rag_app.text.sentences import sentence_spans

    if not _might_instruct(text):
        return []
    found: list[Span] = []
    for span in sentence_spans(text):
        follows = bool(found) and "\n" not in text[found[-1].end : span.start]
        if follows or is_instruction(text[span.start : span.end]):
            if found and not text[found[-1].end : span.start].strip():
                found[-1] = Span(found[-1].start, span.end)
            else:
                found.append(span)
    return found


def strip_hidden(text: str) -> str:
    """The text without characters that a person does not see: zero-width, direction marks, tags, soft hyphens."""
    return text if text.isascii() else _HIDDEN.sub("", text)


def _might_instruct(text: str) -> bool:
    # One look at the whole text is cheaper than segmenting it; nearly all texts are clean.
    return is_instruction(text)


def _decodes_to_instruction(text: str) -> bool:
    for match in _BASE64.finditer(text):
        try:
            decoded = base64.b64decode(match.group() + "=" * (-len(match.group()) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() and _INSTRUCTION.search(decoded):
            return True
    return False
