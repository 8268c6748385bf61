# Oracle of what is said about a Cox fit: intervals, tests, cluster(), strata(), interactions, reference levels, cox.zph.
# Run from the repository root: Rscript test/oracles/cox/inference.R   (writes test/oracles/cox/inference.json)
suppressMessages({library(survival); library(jsonlite)}); options(warn=1)
tight<-coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=50)
read<-function(name) read.csv(paste0("test/tables/",name,".csv"),stringsAsFactors=TRUE)
lung<-read("lung"); veteran<-read("veteran"); retinopathy<-read("retinopathy"); pbc<-read("pbc"); gbsg<-read("gbsg")
veteran$trt<-factor(veteran$trt); pbc$stage<-factor(pbc$stage); lung$ph.ecog<-factor(lung$ph.ecog); lung$sex<-factor(lung$sex)
lung$quarter<-ceiling(lung$time/91)
say<-function(f){
  s<-summary(f); k<-s$coefficients
  zph<-function(tr){ z<-cox.zph(f,transform=tr)$table; data.frame(term=rownames(z),chi2=z[,1],df=z[,2],p=z[,3],row.names=NULL) }
  naive<-if(is.null(f$naive.var)) f$var else f$naive.var
  c(list(names=names(coef(f)),coef=unname(coef(f)),se=sqrt(diag(naive)),used_se=sqrt(diag(f$var)),z=unname(k[,"z"]),p=unname(k[,ncol(k)]),
    hr=unname(s$conf.int[,1]),lower=unname(s$conf.int[,3]),upper=unname(s$conf.int[,4]),loglik=f$loglik,n=f$n,events=f$nevent,
    lr=unname(s$logtest),wald=unname(c(f$wald.test,s$waldtest[2:3])),score=unname(s$sctest),concordance=unname(f$concordance),
    km=zph("km"),identity=zph("identity")),
    if(!is.null(f$rscore)) list(robust_score=unname(s$robscore)))
}
# cox.zph looks for the data again: do.call writes them into the call
fit<-function(formula,data,ties,...) do.call("coxph",list(formula=formula,data=data,ties=ties,control=tight,...))
both<-function(formula,data,...) list(efron=say(fit(formula,data,"efron",...)),breslow=say(fit(formula,data,"breslow",...)))
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")),
 plain=both(Surv(time,status==2)~age+sex+ph.ecog+wt.loss,lung),
 tied=both(Surv(quarter,status==2)~age+sex+ph.ecog,lung),
 strata=both(Surv(time,status)~karno+age+trt+strata(celltype),veteran),
 strata_two=both(Surv(time,status==2)~age+log(bili)+strata(edema,sex),pbc),
 reference=both(Surv(time,status)~karno+relevel(celltype,"squamous")+trt,veteran),
 number_number=both(Surv(time,status==2)~age+bili+age:bili,pbc),
 number_category=both(Surv(time,status)~karno+celltype+karno:celltype,veteran),
 category_category=both(Surv(time,status)~trt+celltype+trt:celltype,veteran),
 cluster=both(Surv(futime,status)~trt+age+type+risk,retinopathy,cluster=quote(id)),
 cluster_strata=both(Surv(futime,status)~age+trt+risk+strata(type),retinopathy,cluster=quote(id)),
 cluster_tied=both(Surv(quarter,status==2)~age+sex,lung[!is.na(lung$inst),],cluster=quote(inst)),
 gbsg=both(Surv(rfstime,status)~age+meno+size+grade+nodes+pgr+er+hormon,gbsg))
writeLines(toJSON(out,digits=I(17),auto_unbox=TRUE,na="null"),"test/oracles/cox/inference.json")
