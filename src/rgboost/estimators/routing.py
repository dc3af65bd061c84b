"""Who gets the ``groups`` of rows that searches and pipelines of scikit-learn hand on."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.model_selection import GroupKFold
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping


class RoutesGroupsMixin:
    """`fit` hands ``groups`` on to the folds."""

    cv: Any
    __metadata_request__fit: ClassVar = {"groups": UNUSED}  # asked for by ``cv``, which gets them

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` takes and hands on: ``groups`` of rows go to ``cv``; a number of folds takes
        them, too."""
        splitter = self.cv if hasattr(self.cv, "split") else GroupKFold()
        hands_on = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=splitter, method_mapping=hands_on)
