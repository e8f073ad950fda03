"""What kind of statement a sentence is; only the factual ones are checked.

Rules by words, in English, German, French, Spanish, Chinese and Japanese: when in doubt a sentence is factual, so that
it is checked. Every pattern has gaps of bounded length only.
"""

from __future__ import annotations

import re

from rag_app.cite.segments import is_question

_SOURCE = (
    r"\b(?:sources?|documents?|passages?|context|excerpts?|evidence|texts?|information|materials?|articles?|"
    r"snippets?)\b"
)  # fmt: skip
_GIVEN = r"(?:the |these |those |any |any of the |your |my |all |our )?(?:\w+ ){0,2}"
_SAY = (
    r"(?:say|state|mention|contain|provide|specify|include|indicate|cover|give|address|answer|discuss|explain|reveal|"
    r"tell|name|list|have|support|offer|describe|clarify|disclose)"
)
_SAID = (
    r"(?:said|stated|mentioned|contained|provided|specified|included|indicated|covered|given|addressed|answered|"
    r"discussed|explained|found|available|named|listed|disclosed|described|known)"
)
_MATTER = r"(?:information|mention|answer|evidence|details?|data|context)"
_NOT = r"(?:not|n['’]t)"
_ABSTENTIONS = (
    # The sources do not say; none of them does; nothing is said in them.
    rf"{_SOURCE}[^.!?]{{0,60}}?\b(?:do(?:es)?|did|can|could) ?{_NOT}\s+(?:\w+\s+){{0,2}}?{_SAY}\b",
    rf"\b(?:none of|neither of|no)\s+{_GIVEN}(?:sources?|documents?|passages?|texts?|excerpts?)\s+(?:\w+\s+)?{_SAY}",
    rf"{_SOURCE}\s+(?:is|are|remains?)\s+silent\b",
    rf"\b(?:is|are|was|were) ?{_NOT}\s+(?:\w+\s+){{0,2}}?{_SAID}\b[^.!?]{{0,40}}?\b(?:in|by|from|"
    rf"within)\s+{_GIVEN}{_SOURCE}",
    rf"{_SOURCE}[^.!?]{{0,40}}?\b(?:provides?|contains?|gives?|offers?|includes?|has|have|makes?)\s+no\s+"
    rf"(?:\w+\s+)?{_MATTER}",
    rf"\b(?:there (?:is|was)|i (?:have|found|find|see)|we (?:have|found|find|see))\s+(?:no|not enough|insufficient)\s+"
    rf"(?:\w+\s+)?{_MATTER}",
    rf"\b(?:no|not enough|insufficient|not sufficient|"
    rf"too little)\s+(?:\w+\s+)?{_MATTER}\b[^.!?]{{0,60}}?\b(?:available|"
    rf"provided|given|to (?:answer|determine|say)|(?:in|from|within)\s+{_GIVEN}{_SOURCE})",
    # I do not know; the question cannot be answered.
    r"^\W*(?:sorry,?\s+|however,?\s+|unfortunately,?\s+|based on [^,]{0,60},\s+|from [^,]{0,60},\s+)?(?:but\s+)?(?:i|"
    r"we) ?"
    r"(?:am |are |was |were )?(?:do not|don['’]t|did not|didn['’]t|cannot|can not|can['’]t|could not|couldn['’]t|"
    r"unable to)"
    r"\s+(?:\w+\s+){0,2}?(?:know|find|answer|determine|say|tell|confirm|locate|provide|have (?:enough|any|the|"
    r"sufficient))\b",
    r"\bunable to (?:answer|find|determine)\b[^.!?]{0,80}?\b(?:question|sources?|documents?|context|answer|"
    r"information)\b",
    rf"\b(?:cannot|can not|can['’]t|could not) be (?:answered|determined|found|given)\b[^.!?]{{0,30}}?\b(?:in|by|from|"
    rf"on|within)\s+{_GIVEN}{_SOURCE}|\bnot possible to (?:{_SAY}|determine|find)\b[^.!?]{{0,60}}?\b(?:in|by|from|on|"
    rf"with)\s+"
    rf"{_GIVEN}{_SOURCE}",
    r"\b(?:question|answer)\b[^.!?]{0,40}?\b(?:cannot|can not|can['’]t|could not) be (?:answered|determined|found)\b",
    # German
    r"\b(?:quellen?|dokumente?n?|text(?:e|en|s)?|unterlagen|auszüge?n?|abschnitte?n?|kontext|passagen?)\b[^.!?]{0,60}?"
    r"\b(?:nicht|kein\w{0,2}|nichts)\b[^.!?]{0,40}?\b(?:genannt|angegeben|erwähnt|enthalten|beantwort\w*|hervor|"
    r"angaben?|"
    r"informationen|zu finden|hinweise?)\b",
    r"\b(?:quellen?|dokumente?|texte?|unterlagen|auszüge?|abschnitte?|kontext|passagen?)\s+(?:nenn|erwähn|enth[aä]lt|"
    r"sag|"
    r"liefer|gib|geb|mach|beantworte)\w*\b[^.!?]{0,60}?\b(?:nicht|kein\w{0,2}|nichts)\b",
    r"\b(?:keine|nicht gen[uü]gend|nicht ausreichend)\s+(?:\w+\s+)?(?:angaben|informationen|"
    r"hinweise)\b[^.!?]{0,60}?\b(?:vor|"
    r"verf[uü]gbar|vorhanden|quellen|dokumenten?|text)\b|\bliegen\s+(?:mir\s+)?keine\s+(?:angaben|informationen)\b",
    r"\bfrage\b[^.!?]{0,60}?\bnicht\s+beantwort\w*|^\W*(?:das |dies )?wei(?:ß|ss) ich nicht|^\W*ich wei(?:ß|"
    r"ss) (?:es |das )?nicht|"
    r"\bich kann\b[^.!?]{0,60}?\bnicht (?:beantworten|finden)",
    # French
    r"\b(?:sources?|documents?|textes?|passages?|extraits?|contexte)\b[^.!?]{0,30}?\bn(?:e\s+|"
    r"['’])(?:\w+\s+)?(?:mentionn|"
    r"contien|précis|indiqu|fourni|di[st]|donn|répond|parl)\w*\s+(?:pas|aucun|rien)",
    r"^\W*je ne (?:sais|trouve|peux|dispose)\b|\b(?:aucune|pas (?:assez|suffisamment) d['’]) ?informations?\b",
    # Spanish
    r"\b(?:fuentes?|documentos?|textos?|pasajes?|contexto)\b[^.!?]{0,30}?\bno\s+(?:\w+\s+)?(?:mencion|contien|"
    r"especific|"
    r"indic|proporcion|dic|ofrec|respond)\w*",
    r"^\W*no (?:lo )?sé\b|\bno (?:hay|tengo|dispongo de|encuentro|encontré) (?:suficiente |ninguna )?información\b|"
    r"^\W*no puedo (?:responder|encontrar)",
    # Chinese, Japanese
    r"(?:资料|資料|文档|文檔|文件|来源|來源|原文|文中|上下文|材料|段落|文章)[^。！？]{0,15}(?:没有|沒有|未|并未)[^。！？]{0,6}"
    r"(?:提到|提及|提供|说明|說明|包含|给出|給出|指出)|(?:无法|無法|不能)(?:回答|确定|確定|得知)|(?:没有|沒有)(?:足够的?|相关的?)?(?:信息|資訊)",
    r"(?:資料|文書|文章|出典|本文|情報源|文脈)[^。！？]{0,20}(?:記載|記述|言及|説明|情報)[^。！？]{0,8}(?:ありません|ない|いません|なかった)|"
    r"(?:お答え|回答)(?:することは)?できません|^\W*(?:それは)?わかりません",
)
_ABSTENTION = re.compile("|".join(f"(?:{pattern})" for pattern in _ABSTENTIONS), re.IGNORECASE)

_LABEL = (
    r"(?:the |some |die |les |los |las )?(?:key |main |important |relevant |short |wichtigsten? )?(?:points?|findings|"
    r"facts|"
    r"takeaways|details|summary|overview|answer|highlights|sources|references|citations|zusammenfassung|überblick|"
    r"punkte|"
    r"antwort|quellen|résumé|réponse|points clés|resumen|respuesta|fuentes|总结|要点|来源|要約)"
)
_META = re.compile(
    rf"^\W*(?:here (?:is|are)|here['’]s|in (?:summary|conclusion|short)\W*$|to summarize\W*$|(?:i|we) hope\b|"
    rf"let me know|"
    rf"feel free|(?:sure|of course|certainly|absolutely|gerne|natürlich|bien sûr|claro|por supuesto)\W*(?:[,!.]|$)|"
    rf"based on (?:the|these|your) (?:provided |given )?(?:sources|documents|context|passages|information)\W*$|"
    rf"the following\b.*:\W*$|below (?:is|are)\b|as an ai\b|note that\W*$|{_LABEL}\W*$|"
    rf"ich hoffe,? (?:das|dies|es)\b|hier (?:ist|sind|finden sie)\b|voici\b|j['’]espère que (?:cela|ça|ceci)|"
    rf"aquí (?:está|están|tiene)\b|espero que (?:esto|te|le|les)\b|以下(?:是|为|為)|希望[^。]{{0,12}}(?:帮|幫|有用))",
    re.IGNORECASE,
)
_DISAGREE = re.compile(
    r"^\W*(?:(?:however|but|note that|here|while)\b,?\s*)?(?:(?:the|these|both|some|two|three|several|cited|given|"
    r"provided|retrieved|available|other|all|die|diese|beiden?|les|ces|las|estas|los|estos)\s+)*(?:sources?|documents?|"
    r"passages?|texts?|accounts|excerpts?|quellen|dokumente|fuentes|documentos)\s+"
    r"(?:also\s+|clearly\s+|do not\s+|don['’]t\s+|partly\s+|se\s+|sich\s+)?(?:disagree|agree|differ|diverge|vary|"
    r"conflict|"
    r"contradict|widersprechen|sind sich (?:nicht einig|uneinig)|weichen|contredisent|divergent|contradicen|difieren|"
    r"discrepan|are (?:inconsistent|contradictory|in conflict|not consistent)|give (?:different|conflicting))\b"
    r"(?!.*\bthat\b)(?!.*\d)[^.]{0,80}\W*$",
    re.IGNORECASE,
)
"""Sentences about the sources themselves: "The sources disagree on this point." """
_OPINION = re.compile(
    r"\b(?:i (?:think|believe|feel|would (?:say|argue|recommend|suggest))|in my (?:opinion|view)|personally,|"
    r"i personally|"
    r"meiner meinung|ich (?:finde|denke|glaube|meine)|persönlich finde|à mon avis|je (?:pense|crois|trouve)|"
    r"en mi opinión|(?:creo|pienso|opino) que)\b|personally,|我(?:个人)?(?:认为|認為|觉得|覺得)|と思います",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^\W*(?:please|let us|let['’]s|consider (?:the|a|an|using|whether|that|how|if)|make sure|remember to|be sure to|"
    r"try to|"
    r"don['’]t forget|bitte|veuillez|por favor)\b|^\W*(?:请|請)(?!求|愿|願|假|示)|ください\W*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「][^\"“”„«»「」]{1,2000}[\"”“»」]")


def kind_of(text: str) -> str:
    """factual | abstention | meta | opinion | question | instruction. What is quoted is said by somebody else."""
    if is_question(text):
        return "question"
    own = _QUOTED.sub(" ", text)
    if _ABSTENTION.search(own):
        return "abstention"
    if is_talk(own):
        return "meta"
    if _OPINION.search(own):
        return "opinion"
    if _INSTRUCTION.search(own):
        return "instruction"
    return "factual"


def is_talk(text: str) -> bool:
    """Does the sentence speak about the answer or its sources, and of nothing in the world?"""
    return _META.search(text) is not None or _DISAGREE.search(text) is not None
